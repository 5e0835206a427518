#include <rlx/formats/image.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/train.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace rlx::splat {

namespace {

/// Means of `factor` x `factor` pixels; what is left at the right and at the bottom is dropped.
HostTensor reduced(const HostTensor& image, std::int64_t factor) {
  const std::int64_t h = std::max<std::int64_t>(1, image.shape()[0] / factor),
                     w = std::max<std::int64_t>(1, image.shape()[1] / factor), row = image.shape()[1] * 3;
  const std::int64_t rows = std::min(factor, image.shape()[0]), columns = std::min(factor, image.shape()[1]);
  HostTensor out(DType::f32, {h, w, 3});
  const float* from = image.as<float>().data();
  float* to = out.as_mutable<float>().data();
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (std::int64_t j = 0; j < rows; ++j)
          for (std::int64_t i = 0; i < columns; ++i) sum += from[(y * factor + j) * row + (x * factor + i) * 3 + c];
        *to++ = sum / static_cast<float>(rows * columns);
      }
  return out;
}

void put(HostTensor& sheet, const HostTensor& tile, std::int64_t top, std::int64_t left) {
  const std::int64_t w = tile.shape()[1] * 3;
  float* to = sheet.as_mutable<float>().data();
  for (std::int64_t y = 0; y < tile.shape()[0]; ++y)
    std::copy_n(tile.as<float>().data() + y * w, w, to + ((top + y) * sheet.shape()[1] + left) * 3);
}

}  // namespace

HostTensor contact_sheet(Trainer& trainer, const std::vector<std::size_t>& views, std::int64_t width) {
  if (views.empty()) throw ArgumentError("a contact sheet of no views, expected at least one");
  if (width < 1)
    throw ArgumentError("a contact sheet of tiles of " + std::to_string(width) + " pixels, expected at least 1");
  constexpr std::int64_t gap = 4;
  std::vector<std::array<HostTensor, 3>> rows;
  std::int64_t tile_width = 0, height = -gap;
  for (const std::size_t view : views) {
    HostTensor shown = trainer.render(view);
    HostTensor truth = formats::unit_floats(trainer.capture().images[view]);
    const std::int64_t factor = (truth.shape()[1] + width - 1) / width;
    shown = reduced(shown, factor), truth = reduced(truth, factor);
    HostTensor difference(DType::f32, truth.shape());
    std::transform(truth.as<float>().begin(), truth.as<float>().end(), shown.as<float>().begin(),
                   difference.as_mutable<float>().begin(), [](float x, float y) { return std::abs(x - y); });
    tile_width = std::max(tile_width, truth.shape()[1]);
    height += truth.shape()[0] + gap;
    rows.push_back({std::move(truth), std::move(shown), std::move(difference)});
  }
  HostTensor sheet(DType::f32, {height, 3 * tile_width + 2 * gap, 3});
  std::ranges::fill(sheet.as_mutable<float>(), 1.0f);
  std::int64_t top = 0;
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k)
      put(sheet, row[k], top, static_cast<std::int64_t>(k) * (tile_width + gap));
    top += row[0].shape()[0] + gap;
  }
  return unit_bytes(sheet);
}

}  // namespace rlx::splat
