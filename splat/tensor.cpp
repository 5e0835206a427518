#include <rlx/catalog.hpp>
#include <rlx/splat/register.hpp>
#include <rlx/splat/render.hpp>
#include <rlx/splat/tensor.hpp>

#include <algorithm>
#include <limits>

#include "splat/emitted.hpp"

namespace rlx::splat {

void ensure_registered() { extend_default_catalog("splat", add_to); }

ImageTensors render(const GaussianTensors& g, const CameraTensors& cameras, RenderAttrs attrs, Here here) {
  ensure_registered();
  if (attrs.entries == 0) {
    const std::int64_t tiles = 64 * std::max<std::int64_t>(1, g.means.dim(0)) * cameras.views.dim(0);
    attrs.entries = std::clamp<std::int64_t>(tiles, 1 << 12, std::numeric_limits<std::int32_t>::max());
  }
  Handles in{g.means, g.quats, g.scales, g.opacities, g.sh, cameras.views, cameras.intrinsics};
  if (cameras.backgrounds.defined()) in.push_back(cameras.backgrounds);
  const Handles out = build(in,
                            [&](Builder&, ValuesIn v) {
                              const Images images = render_images({v[0], v[1], v[2], v[3], v[4]},
                                                                  {v[5], v[6], v.size() > 7 ? v[7] : Value{}}, attrs);
                              return Values{images.image, images.alpha};
                            },
                            {"splat.render", here});
  return {Tensor(out[0]), Tensor(out[1])};
}

Tensor ssim(const Tensor& x, const Tensor& y, SsimAttrs attrs, Here here) {
  return emitted({x, y}, [&](ValuesIn v) { return ssim(v[0], v[1], attrs); }, {"splat.ssim", here});
}

Tensor knn(const Tensor& points, std::int64_t k, Here here) {
  return emitted({points}, [&](ValuesIn v) { return knn(v[0], k); }, {"splat.knn", here});
}

}  // namespace rlx::splat
