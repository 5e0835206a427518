// rlx splat view SCENE: a page in the browser that shows a scene, or a training while it runs.
#include "json_output.hpp"
#include "option_checks.hpp"
#include "splat.hpp"
#include "view_server.hpp"

#include <cstdio>
#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

struct SplatView {
  Context& context;
  std::string path{};
  int port = 8088;
  bool raw_axes = false;

  int run() const {
    LiveScene scene(path, raw_axes);
    const ViewState first = scene.look();
    serve_view(scene, port, [&](int bound) {
      const std::string url = "http://127.0.0.1:" + std::to_string(bound) + "/";
      if (context.json) print_json({{"scene", scene.file()}, {"gaussians", first.gaussians}, {"url", url}});
      else std::cout << scene.file() << " at " << url << " (Ctrl-C ends it)" << std::endl;
    });
    return 0;
  }
};

}  // namespace

void add_splat_view(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatView>(SplatView{context});
  CLI::App* c = add_command(splat, context, "view",
                            "Shows a scene in the browser, from this machine alone, and again whenever it changes.",
                            [s] { return s->run(); });
  c->add_option("scene", s->path, "scene: .ply, .spz or .splat; or the folder of a training, whose scene.ply it shows")
      ->required();
  c->add_option("--port", s->port, "of 127.0.0.1; 0: any that is free")
      ->check(number_from<int>(0, 65535))
      ->capture_default_str();
  add_axes_flag(*c, s->raw_axes);
}

}  // namespace rlx::cli
