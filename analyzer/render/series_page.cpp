#include "analyzer/render/render.hpp"
namespace snapdiff::render {
Result<std::string> draw_series(const Story&, PictureForm, Paper, double) { return Error{ErrorCode::internal, "todo"}; }
}
