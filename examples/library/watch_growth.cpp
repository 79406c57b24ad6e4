// Says what grew over a series of heap dumps: watch_growth FILE FILE FILE...
#include <iostream>
#include <snapdiff/snapdiff.hpp>

int main(int argc, char** argv) {
  std::vector<snapdiff::SnapshotRef> series;
  for (int i = 1; i < argc; ++i) {
    const auto snapshots = snapdiff::read_snapshots(argv[i]);
    if (!snapshots) return std::cerr << snapshots.error().text() << '\n', 2;
    series.insert(series.end(), snapshots->begin(), snapshots->end());
  }
  const auto trend = snapdiff::judge(series);
  if (!trend) return std::cerr << trend.error().text() << '\n', 2;
  const snapdiff::GrowthReport& overall = trend->series.overall;
  std::vector<snapdiff::FrameView> frames;
  for (const auto row : trend->order) {
    if (trend->verdicts[row].word != "GROWING") continue;
    overall.frames(overall.rows[row], frames);
    std::cout << overall.rows[row].value.growth() << " bytes " << snapdiff::frame_text(frames.front()) << ": "
              << trend->verdicts[row].reason << '\n';
  }
}
