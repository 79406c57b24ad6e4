// The ordinary work of a service: a bounded cache, a window of timings, requests of varying size.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

class Beside {
 public:
  uint64_t random(uint64_t below) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % below;
  }

  size_t request() {
    const uint64_t key = random(1500);
    timings_.push_back(static_cast<double>(key));
    if (timings_.size() > 5000) timings_.pop_front();
    if (auto found = pages_.find(key); found != pages_.end()) return found->second.size();
    const std::string& page = pages_.emplace(key, std::string(500 + random(7500), 'p')).first->second;
    order_.push_back(key);
    if (order_.size() > 200) {
      pages_.erase(order_.front());
      order_.pop_front();
    }
    return page.size();
  }

 private:
  uint64_t state_ = 7;
  std::unordered_map<uint64_t, std::string> pages_;
  std::deque<uint64_t> order_;
  std::deque<double> timings_;
};
