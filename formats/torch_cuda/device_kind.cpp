#include "formats/torch_cuda/device_kind.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "snapdiff/contains.hpp"

namespace snapdiff::formats::torch_cuda {
namespace {

/// A sign of a kind of device. Python's torch/cuda serves ROCm as well, so it is a sign of neither.
struct Sign {
  std::string_view kind;
  std::string_view function;  ///< a part of its name
  std::string_view file;      ///< a part of a Python file's path
  std::string_view setting;   ///< a whole name
};

constexpr Sign kSigns[] = {
    {"xpu", "c10::xpu::", "torch/xpu/", ""},
    {"mtia", "at::mtia::", "torch/mtia/", ""},
    {"rocm", "c10::hip::", "", "PYTORCH_HIP_ALLOC_CONF"},
    {"rocm", "HIPCachingAllocator", "", ""},
    {"rocm", "rocblas", "", ""},
    {"rocm", "hipblas", "", ""},
    {"cuda", "c10::cuda::", "", "PYTORCH_CUDA_ALLOC_CONF"},
};
constexpr std::array<std::string_view, 4> kKinds = {"xpu", "mtia", "rocm", "cuda"};

}  // namespace

std::string_view device_kind(const Dictionary& dictionary, const AllocatorState& state) {
  std::array<bool, kKinds.size()> found{};
  const auto meet = [&](const auto& says) {
    for (const Sign& sign : kSigns) {
      const auto at = std::find(kKinds.begin(), kKinds.end(), sign.kind);
      bool& known = found[static_cast<std::size_t>(at - kKinds.begin())];
      known = known || says(sign);
    }
  };
  for (std::size_t f = 1; f < dictionary.functions.size(); ++f) {
    const std::string_view name = dictionary.strings[dictionary.functions.name[f]];
    const std::string_view file = dictionary.strings[dictionary.functions.file[f]];
    meet([&](const Sign& sign) {
      return contains(name, sign.function) || (!sign.file.empty() && contains(file, sign.file));
    });
  }
  for (const auto& [key, value] : state.settings)
    meet([&key = key](const Sign& sign) { return !sign.setting.empty() && key == sign.setting; });
  const auto at = std::find(found.begin(), found.end(), true);
  return at == found.end() ? std::string_view() : kKinds[static_cast<std::size_t>(at - found.begin())];
}

}  // namespace snapdiff::formats::torch_cuda
