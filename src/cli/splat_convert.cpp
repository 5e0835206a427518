// rlx splat convert IN OUT: from one format of Gaussians to another.
#include "json_output.hpp"
#include "splat.hpp"

#include <rlx/ir/counted.hpp>

#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

struct SplatConvert {
  Context& context;
  SceneFlags flags{};
  std::string input{}, output{};

  int run() const {
    flags.check(input, output);
    const formats::GaussianCloud cloud = flags.read(input);
    flags.write(output, cloud);
    if (context.json)
      print_json({{"input", input}, {"output", output}, {"gaussians", cloud.size()}, {"sh_degree", cloud.sh_degree}});
    else std::cout << output << ": " << counted(cloud.size(), "Gaussian") << "\n";
    return 0;
  }
};

}  // namespace

void add_splat_convert(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatConvert>(SplatConvert{context});
  CLI::App* c = add_command(splat, context, "convert",
                            "Converts a scene; the names tell the formats. .spz and .splat lose precision, .splat all "
                            "harmonics above degree 0.",
                            [s] { return s->run(); });
  c->add_option("input", s->input, "scene: .ply, .spz or .splat")->required();
  c->add_option("output", s->output, "scene to write, replaced whole or not at all")->required();
  s->flags.add_to(*c);
}

}  // namespace rlx::cli
