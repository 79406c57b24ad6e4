#pragma once

#include <string>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

Match sniff_pickle(std::string_view head);
std::string pickle_refusal(std::string_view head);
Match sniff_html(std::string_view head);
std::string html_refusal(std::string_view head);
Match sniff_json(std::string_view head);

}  // namespace snapdiff::formats::torch_cuda
