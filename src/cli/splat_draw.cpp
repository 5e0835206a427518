#include "compile_flags.hpp"
#include "splat.hpp"

namespace rlx::cli {

void DrawFlags::add_to(CLI::App& app) {
  app.add_option("--background", background, "colour behind the scene: r,g,b from 0 to 1")->capture_default_str();
  app.add_option("--mode", mode, "classic or antialiased (default: what the scene says, else classic)")
      ->check(CLI::IsMember({"classic", "antialiased"}));
  add_device_option(app, device, "draws");
}

void DrawFlags::check() const {
  for (const float x : comma_numbers(background, 3, "--background"))
    if (!(x >= 0 && x <= 1)) throw UsageError("--background takes numbers from 0 to 1, not \"" + background + "\"");
}

splat::RendererOptions DrawFlags::options(const formats::GaussianCloud& scene) const {
  const auto rgb = comma_numbers(background, 3, "--background");
  const bool antialiased = mode.empty() ? scene.antialiased : mode == "antialiased";
  return {.mode = antialiased ? splat::RenderMode::antialiased : splat::RenderMode::classic,
          .background = {rgb[0], rgb[1], rgb[2]},
          .device = device};
}

}  // namespace rlx::cli
