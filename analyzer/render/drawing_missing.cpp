#include "analyzer/render/drawing.hpp"

namespace snapdiff::render {

Result<const Drawing*> open_drawing() {
  return Error{
      ErrorCode::io,
      "this static program cannot draw; install the packages snapdiff and snapdiff-draw of version " SNAPDIFF_VERSION};
}

}  // namespace snapdiff::render
