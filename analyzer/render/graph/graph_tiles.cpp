#include "analyzer/render/graph/graph_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr double kGraphTilesPad = 5;
constexpr int kPieces = 12;  ///< straight lines that stand for one curve

/// Bands along one axis: where each begins, and which a node belongs to.
struct Bands {
  std::vector<double> begin;
  std::vector<std::uint32_t> of;
};

/// Each band begins at the first node that is not whole in the one before.
Bands bands_of(const std::vector<std::pair<double, double>>& extents, double size, double all) {
  Bands bands;
  bands.of.assign(extents.size(), 0);
  std::vector<std::uint32_t> order(extents.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return extents[i].first; });
  if (all + 2 * kGraphTilesPad <= size) {
    bands.begin.push_back((all - size) / 2);
    return bands;
  }
  std::vector<std::uint32_t> left = std::move(order);
  while (!left.empty()) {
    const double begin = extents[left.front()].first - kGraphTilesPad;
    const double end = begin + size - 2 * kGraphTilesPad;
    std::vector<std::uint32_t> next;
    for (const std::uint32_t node : left) {
      if (extents[node].second <= end || extents[node].first - kGraphTilesPad <= begin) {
        bands.of[node] = static_cast<std::uint32_t>(bands.begin.size());
      } else {
        next.push_back(node);
      }
    }
    // The last band ends where the graph does.
    bands.begin.push_back(std::max(-kGraphTilesPad, std::min(begin, all + kGraphTilesPad - size)));
    left = std::move(next);
  }
  return bands;
}

struct Grid {
  Bands columns, rows;
};

Grid grid_of(const GraphScene& scene, double w, double h) {
  std::vector<std::pair<double, double>> across;
  std::vector<std::pair<double, double>> down;
  for (const GraphScene::NodeBox& node : scene.nodes) {
    across.emplace_back(node.box.x, node.box.x + node.box.w);
    down.emplace_back(node.box.y, node.box.y + node.box.h);
  }
  return {bands_of(across, w, scene.w), bands_of(down, h, scene.h)};
}

bool inside(const Box& box, Point p) {
  return p.x >= box.x && p.x <= box.x + box.w && p.y >= box.y && p.y <= box.y + box.h;
}

/// The part of the line between two points that lies inside the box: where it enters and leaves, 0..1.
std::optional<std::pair<double, double>> part_inside(const Box& box, Point a, Point b) {
  double enter = 0;
  double leave = 1;
  const auto cut = [&](double from, double by, double low, double high) {
    if (by == 0) return from >= low && from <= high;
    double t0 = (low - from) / by;
    double t1 = (high - from) / by;
    if (t0 > t1) std::swap(t0, t1);
    enter = std::max(enter, t0);
    leave = std::min(leave, t1);
    return enter <= leave;
  };
  if (!cut(a.x, b.x - a.x, box.x, box.x + box.w) || !cut(a.y, b.y - a.y, box.y, box.y + box.h)) return std::nullopt;
  return std::pair{enter, leave};
}

Point between(Point a, Point b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

std::vector<Point> flat_line(const std::vector<Point>& curve) {
  std::vector<Point> out{curve.front()};
  for (std::size_t i = 1; i + 2 < curve.size(); i += 3) {
    const Point p0 = curve[i - 1];
    for (int k = 1; k <= kPieces; ++k) {
      const double t = static_cast<double>(k) / kPieces;
      const double u = 1 - t;
      const double a = u * u * u;
      const double b = 3 * u * u * t;
      const double c = 3 * u * t * t;
      const double d = t * t * t;
      out.push_back({a * p0.x + b * curve[i].x + c * curve[i + 1].x + d * curve[i + 2].x,
                     a * p0.y + b * curve[i].y + c * curve[i + 1].y + d * curve[i + 2].y});
    }
  }
  return out;
}

Box common(const Box& a, const Box& b) {
  const double x0 = std::max(a.x, b.x);
  const double y0 = std::max(a.y, b.y);
  const double x1 = std::min(a.x + a.w, b.x + b.w);
  const double y1 = std::min(a.y + a.h, b.y + b.h);
  return {x0, y0, std::max(0.0, x1 - x0), std::max(0.0, y1 - y0)};
}

class TileDrawing {
 public:
  TileDrawing(const TiledScene& tiled, std::size_t index, Canvas& canvas, const std::vector<std::string>& anchors,
              const SceneLinks& links)
      : tiled_(tiled),
        scene_(tiled.scene),
        tile_(tiled.tiles[index]),
        index_(static_cast<std::uint32_t>(index)),
        canvas_(canvas),
        anchors_(anchors),
        links_(links) {}

  void draw() {
    overlap_marks();
    for (std::size_t e = scene_.edges.size(); e-- > 0;) edge(e);
    for (std::uint32_t n = 0; n < scene_.nodes.size(); ++n) {
      if (tiled_.tile_of[n] != index_) shadow(n);
    }
    for (const std::uint32_t n : tile_.nodes) draw_scene_node(scene_, n, canvas_, links_);
    for (const Label& label : labels_) draw_label(label);
  }

 private:
  struct Label {
    std::string text;
    std::uint32_t tile = 0;
    Box box;
  };

  /// Where other windows begin or end inside of this one: what lies beyond is on both pages.
  void overlap_marks() {
    const Box& w = tile_.window;
    const Stroke stroke{kInk3, 0.4, 1, 2.5};
    for (std::size_t t = 0; t < tiled_.tiles.size(); ++t) {
      const Box& other = tiled_.tiles[t].window;
      if (t == index_) continue;
      const bool beside = std::fabs(other.y - w.y) < 1;
      const bool below = std::fabs(other.x - w.x) < 1;
      for (const double x : {other.x, other.x + other.w}) {
        if (beside && x > w.x + 1 && x < w.x + w.w - 1)
          canvas_.painter().stroke(Path().move({x, w.y}).line({x, w.y + w.h}), stroke);
      }
      for (const double y : {other.y, other.y + other.h}) {
        if (below && y > w.y + 1 && y < w.y + w.h - 1)
          canvas_.painter().stroke(Path().move({w.x, y}).line({w.x + w.w, y}), stroke);
      }
    }
  }

  void edge(std::size_t e) {
    if (scene_.edges[e].points.size() < 4) return;
    const std::vector<Point> line = flat_line(scene_.edges[e].points);
    Path path;
    bool drawn = false;
    bool pen_down = false;
    std::optional<Point> entered;
    std::optional<Point> left;
    for (std::size_t i = 1; i < line.size(); ++i) {
      const auto part = part_inside(tile_.window, line[i - 1], line[i]);
      if (!part) {
        pen_down = false;
        continue;
      }
      const Point from = between(line[i - 1], line[i], part->first);
      const Point to = between(line[i - 1], line[i], part->second);
      if (!pen_down) path.move(from);
      if (!drawn && part->first > 0) entered = from;
      path.line(to);
      drawn = true;
      pen_down = part->second >= 1;
      left = pen_down ? std::nullopt : std::optional<Point>(to);
    }
    if (!drawn) return;
    const graph::Edge& edge = scene_.graph.edges[e];
    // It may begin or end just inside, at a node of which nothing is to be seen here.
    if (!entered && inside(tile_.window, line.front()) && !is_seen(edge.from)) entered = line.front();
    if (!left && inside(tile_.window, line.back()) && !is_seen(edge.to)) left = line.back();
    canvas_.painter().stroke(path, edge_stroke(scene_, e));
    if (entered && tiled_.tile_of[edge.from] != index_) add_label(*entered, "from", edge.from);
    if (left && tiled_.tile_of[edge.to] != index_) add_label(*left, "to", edge.to);
    const GraphScene::EdgeCurve& curve = scene_.edges[e];
    if (!curve.label.empty() && inside(tile_.window, curve.label_at)) draw_edge_label(curve, canvas_);
  }

  bool is_seen(std::uint32_t node) const {
    const Box part = common(scene_.nodes[node].box, tile_.window);
    return part.w > kLeastShadow && part.h > kLeastShadow;
  }

  void add_label(Point at, const char* word, std::uint32_t node) {
    const TextStyle style{kLabelSize};
    const std::string number = std::to_string(tiled_.tile_of[node] + 1);
    const std::string text = concat(word, " tile ", number);
    const double w = canvas_.width(text, style) + 6;
    const Box& window = tile_.window;
    Box box{std::clamp(at.x - w / 2, window.x + 1, window.x + window.w - w - 1),
            std::clamp(at.y - 5, window.y + 1, window.y + window.h - 11), w, 10};
    // Labels that would lie on each other or on a node move along the border, away from the middle; many to one
    // tile are one.
    const bool side = at.x <= window.x + 1 || at.x >= window.x + window.w - 1;
    const double step = side ? -(box.h + 1) : (at.x < window.x + window.w / 2 ? -1 : 1) * (box.w + 2);
    for (std::size_t tries = 0; tries < 8; ++tries) {
      const auto hit = std::ranges::find_if(labels_, [&](const Label& label) {
        const Box both = common(label.box, box);
        return both.w > 0 && both.h > 0;
      });
      if (hit != labels_.end() && hit->text == text) return;
      if (hit == labels_.end() && !on_node(box)) {
        labels_.push_back({text, tiled_.tile_of[node], box});
        return;
      }
      (side ? box.y : box.x) += step;
      if (box.x < window.x || box.y < window.y || box.x + box.w > window.x + window.w) return;
    }
  }

  bool on_node(const Box& box) const {
    return std::ranges::any_of(tile_.nodes, [&](std::uint32_t node) {
      const Box both = common(scene_.nodes[node].box, box);
      return both.w > 0 && both.h > 0;
    });
  }

  void draw_label(const Label& label) {
    canvas_.painter().begin_link(label.tile < anchors_.size() ? anchors_[label.tile] : "");
    canvas_.rect(label.box, kPaper, 2);
    canvas_.frame(label.box, {kInk3, 0.5}, 2);
    canvas_.text(label.box.x + label.box.w / 2, label.box.y + 7.4, label.text, {kLabelSize}, kInk, Align::centre);
    canvas_.painter().end_link();
  }

  void shadow(std::uint32_t n) {
    const Box part = common(scene_.nodes[n].box, tile_.window);
    if (!is_seen(n)) return;
    const std::uint32_t tile = tiled_.tile_of[n];
    canvas_.painter().begin_link(tile < anchors_.size() ? anchors_[tile] : "");
    canvas_.rect(part, kPanel);
    canvas_.frame(part, {kInk3, 0.5, 2, 2});
    const TextStyle style{kLabelSize};
    const std::string where = std::string("tile ").append(std::to_string(tile + 1));
    if (part.h >= 10 && part.w >= canvas_.width(where, style) + 6) {
      canvas_.text(part.x + 3, part.y + 8.5, where, style, kInk2);
      if (part.h >= 20 && part.w >= 40)
        canvas_.text_within(part.x + 3, part.y + 17.5, scene_.nodes[n].name, style, kInk2, part.w - 6);
    }
    canvas_.painter().end_link();
  }

  static constexpr double kLabelSize = 7;
  static constexpr double kLeastShadow = 2;
  const TiledScene& tiled_;
  const GraphScene& scene_;
  const Tile& tile_;
  std::uint32_t index_;
  Canvas& canvas_;
  const std::vector<std::string>& anchors_;
  const SceneLinks& links_;
  std::vector<Label> labels_;
};

}  // namespace

std::size_t count_tiles(const GraphScene& scene, double scale, double w, double h) {
  const Grid grid = grid_of(scene, w / scale, h / scale);
  std::vector<std::uint8_t> used(grid.columns.begin.size() * grid.rows.begin.size(), 0);
  for (std::size_t n = 0; n < scene.nodes.size(); ++n)
    used[grid.rows.of[n] * grid.columns.begin.size() + grid.columns.of[n]] = 1;
  return static_cast<std::size_t>(std::ranges::count(used, 1));
}

TiledScene cut_into_tiles(GraphScene scene, double scale, double w, double h) {
  TiledScene out;
  const Grid grid = grid_of(scene, w / scale, h / scale);
  const std::size_t columns = grid.columns.begin.size();
  std::vector<std::vector<std::uint32_t>> cells(columns * grid.rows.begin.size());
  for (std::uint32_t n = 0; n < scene.nodes.size(); ++n)
    cells[grid.rows.of[n] * columns + grid.columns.of[n]].push_back(n);
  out.tile_of.assign(scene.nodes.size(), 0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].empty()) continue;
    for (const std::uint32_t n : cells[c]) out.tile_of[n] = static_cast<std::uint32_t>(out.tiles.size());
    const Box window{grid.columns.begin[c % columns], grid.rows.begin[c / columns], w / scale, h / scale};
    out.tiles.push_back({window, std::move(cells[c])});
  }
  out.scene = std::move(scene);
  out.scale = scale;
  return out;
}

void draw_tile(const TiledScene& tiled, std::size_t index, Canvas& canvas, Point at,
               const std::vector<std::string>& anchors, const SceneLinks& links) {
  const Box& window = tiled.tiles[index].window;
  canvas.painter().push({at.x - window.x * tiled.scale, at.y - window.y * tiled.scale}, tiled.scale);
  TileDrawing(tiled, index, canvas, anchors, links).draw();
  canvas.painter().pop();
}

void draw_tile_map(const TiledScene& tiled, std::size_t current, Canvas& canvas, const Box& room,
                   const std::vector<std::string>& anchors) {
  double x0 = 0;
  double y0 = 0;
  double x1 = tiled.scene.w;
  double y1 = tiled.scene.h;
  for (const Tile& tile : tiled.tiles) {
    x0 = std::min(x0, tile.window.x);
    y0 = std::min(y0, tile.window.y);
    x1 = std::max(x1, tile.window.x + tile.window.w);
    y1 = std::max(y1, tile.window.y + tile.window.h);
  }
  const double scale = std::min(room.w / std::max(x1 - x0, 1.0), room.h / std::max(y1 - y0, 1.0));
  const double left = room.x + room.w - (x1 - x0) * scale;
  const auto placed = [&](const Box& box) {
    return Box{left + (box.x - x0) * scale, room.y + (box.y - y0) * scale, box.w * scale, box.h * scale};
  };
  if (current < tiled.tiles.size()) canvas.rect(placed(tiled.tiles[current].window), kOther);
  for (std::size_t n = 0; n < tiled.scene.nodes.size(); ++n) {
    const auto net = static_cast<double>(tiled.scene.graph.nodes[n].cumulative.net());
    const Box box = placed(tiled.scene.nodes[n].box);
    canvas.rect(box, n == 0 ? kPaper : net == 0 ? kPaper : ramp_of(net).c300);
    canvas.frame(box, {kInk3, 0.3});
  }
  for (std::size_t t = 0; t < tiled.tiles.size(); ++t) {
    const Box box = placed(tiled.tiles[t].window);
    canvas.painter().begin_link(t < anchors.size() ? anchors[t] : "");
    canvas.frame(box, {kInk, t == current ? 1.2 : 0.4});
    const double x = box.x + 5;
    const double y = box.y + 8;
    canvas.painter().fill(Path::circle({x + 0.5, y - 2.2}, 4.2), t == current ? kInk : kPaper);
    canvas.painter().stroke(Path::circle({x + 0.5, y - 2.2}, 4.2), {kInk, 0.5});
    canvas.text(x + 0.5, y, std::to_string(t + 1), {6.2, FontWeight::semibold}, t == current ? kPaper : kInk,
                Align::centre);
    canvas.painter().end_link();
  }
}

}  // namespace snapdiff::render
