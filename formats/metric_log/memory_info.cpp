#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"

/// tf.config.experimental.get_memory_info: the dictionary as Python prints it, and a line that is often
/// printed around it.
namespace snapdiff::formats::metric_log {
namespace {

/// {'current': 300000000, 'peak': 310000000}
bool read_dict(std::string_view text, std::int64_t& current, std::int64_t& peak) {
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    Cursor at(text.substr(open + 1));
    if (at.takes("~'current'~:~%~,~'peak'~:~%~}", current, peak) ||
        at.takes("~\"current\"~:~%~,~\"peak\"~:~%~}", current, peak))
      return true;
  }
  return false;
}

class MemoryInfo final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    if (!contains(text, "current")) return false;
    std::int64_t current = 0, peak = 0;
    if (read_dict(text, current, peak)) {
      const Reading readings[] = {{"memory_info.current", "bytes", {current, 0}, false},
                                  {"memory_info.peak", "bytes", {peak, 0}, false}};
      session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
      return true;
    }
    return take_sentence(line, session);
  }

 private:
  /// Memory info of GPU /physical_device:GPU:0: current: 300000000, peak: 310000000
  static bool take_sentence(const LogLine& line, Session& session) {
    const std::string_view text = line.text;
    constexpr std::string_view kBegin = "memory info of ";
    const std::size_t begin = find_ignoring_case(text, kBegin);
    if (begin == std::string_view::npos) return false;
    const std::size_t current_at = text.find("current:", begin);
    const std::size_t peak_at = text.find("peak:", begin);
    if (current_at == std::string_view::npos || peak_at == std::string_view::npos) return false;
    std::string_view device = text.substr(begin + kBegin.size(), current_at - begin - kBegin.size());
    while (!device.empty() && (is_blank(device.back()) || device.back() == ':')) device.remove_suffix(1);
    if (const std::size_t blank = device.rfind(' '); blank != std::string_view::npos) device.remove_prefix(blank + 1);
    if (device.starts_with("/physical_device:")) device.remove_prefix(device.find(':') + 1);
    const std::optional<Quantity> current = number_at(text, current_at + 8), peak = number_at(text, peak_at + 5);
    if (!current || !peak) return false;
    const auto name = [&](std::string_view counter) {
      return device.empty() ? std::string(counter) : with_tag(counter, "device", device);
    };
    const Reading readings[] = {{name("memory_info.current"), "bytes", *current, false},
                                {name("memory_info.peak"), "bytes", *peak, false}};
    session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
    return true;
  }

  /// Whole numbers are bytes; one with a fraction was divided to gigabytes by whoever printed it.
  static std::optional<Quantity> number_at(std::string_view text, std::size_t at) {
    const Measure found = measure_at(text, at);
    const std::uint64_t unit = size_unit(found.unit, false);
    const std::uint64_t without = found.number.has_point ? std::uint64_t{1} << 30 : 1;
    return found.number_end == 0 ? std::nullopt : scale(found.number, unit == 0 ? without : unit);
  }
};

}  // namespace

std::unique_ptr<Matcher> make_memory_info_matcher() { return std::make_unique<MemoryInfo>(); }

}  // namespace snapdiff::formats::metric_log
