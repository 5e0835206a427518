// rlx splat crop IN OUT: the finite Gaussians whose means lie in a box or a sphere.
#include "json_output.hpp"
#include "splat.hpp"

#include <rlx/ir/counted.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace rlx::cli {

namespace {

struct SplatCrop {
  Context& context;
  SceneFlags flags{};
  std::string input{}, output{};
  std::optional<std::string> lower{}, upper{}, sphere{};

  std::vector<std::int64_t> inside(const formats::GaussianCloud& cloud) const {
    if (sphere) {
      const auto s = comma_numbers(*sphere, 4, "--sphere");
      if (s[3] < 0) throw UsageError("--sphere has a radius that is not negative, not \"" + *sphere + "\"");
      return inside_sphere(cloud, {s[0], s[1], s[2]}, s[3]);
    }
    const auto l = comma_numbers(lower.value_or("-inf,-inf,-inf"), 3, "--min"),
               u = comma_numbers(upper.value_or("inf,inf,inf"), 3, "--max");
    for (std::size_t k = 0; k < 3; ++k)
      if (l[k] > u[k]) throw UsageError("--min is above --max along " + std::string(1, "xyz"[k]));
    return inside_box(cloud, {l[0], l[1], l[2]}, {u[0], u[1], u[2]});
  }

  int run() const {
    flags.check(input, output);
    (void)inside({});  // a wrong option is told before the scene is read
    const formats::GaussianCloud cloud = flags.read(input);
    const formats::GaussianCloud kept = select(cloud, inside(cloud));
    const std::int64_t not_finite = summarize(cloud).not_finite;
    flags.write(output, kept);
    if (context.json)
      print_json({{"input", input},
                  {"output", output},
                  {"gaussians", cloud.size()},
                  {"not_finite", not_finite},
                  {"kept", kept.size()}});
    else {
      std::cout << output << ": " << kept.size() << " of " << counted(cloud.size(), "Gaussian");
      if (not_finite > 0) std::cout << ", of which " << not_finite << " were not finite";
      std::cout << "\n";
    }
    return 0;
  }
};

}  // namespace

void add_splat_crop(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatCrop>(SplatCrop{context});
  CLI::App* c = add_command(
      splat, context, "crop",
      "Keeps the Gaussians whose means lie in a box or a sphere, limits included; of all, without one, those that "
      "are finite.",
      [s] { return s->run(); });
  c->add_option("input", s->input, "scene: .ply, .spz or .splat")->required();
  c->add_option("output", s->output, "scene to write, replaced whole or not at all")->required();
  CLI::Option* lower = c->add_option(
      "--min", s->lower, "lower corner of the box: x,y,z (default without limit); inf and -inf are numbers too");
  CLI::Option* upper = c->add_option("--max", s->upper, "upper corner of the box: x,y,z (default without limit)");
  c->add_option("--sphere", s->sphere, "centre and radius: x,y,z,r")->excludes(lower)->excludes(upper);
  s->flags.add_to(*c);
}

}  // namespace rlx::cli
