#include "compile_flags.hpp"
#include "splat.hpp"

namespace rlx::cli {

void DrawFlags::add_to(CLI::App& app) {
  app.add_option("--background", background, "colour behind the scene: r,g,b from 0 to 1")->capture_default_str();
  app.add_option("--mode", mode, "classic or antialiased (default: what the scene says, else classic)")
      ->check(CLI::IsMember({"classic", "antialiased"}));
  add_device_option(app, device, "draws");
}

std::array<float, 3> parse_background(const std::string& text) {
  const auto rgb = comma_numbers(text, 3, "--background");
  for (const float x : rgb)
    if (!(x >= 0 && x <= 1)) throw UsageError("--background takes numbers from 0 to 1, not \"" + text + "\"");
  return {rgb[0], rgb[1], rgb[2]};
}

void DrawFlags::check() const { (void)parse_background(background); }

splat::RendererOptions DrawFlags::options(const formats::GaussianCloud& scene) const {
  const bool antialiased = mode.empty() ? scene.antialiased : mode == "antialiased";
  return {.mode = antialiased ? splat::RenderMode::antialiased : splat::RenderMode::classic,
          .background = parse_background(background),
          .device = device};
}

}  // namespace rlx::cli
