// rlx splat train CAPTURE -o FOLDER: Gaussians whose renders are the images of a capture.
#include "compile_flags.hpp"
#include "json_output.hpp"
#include "option_checks.hpp"
#include "progress.hpp"
#include "splat.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/formats/text_file.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/train.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace rlx::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using splat::Densification, splat::Start, splat::RenderMode, splat::Trainer;

/// A folder for as long as a training writes to it; of another one that lives it is refused. It ends with the process,
/// killed or not.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ < 0) throw FormatError(folder, 0, "cannot open the folder: " + std::generic_category().message(errno));
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;  // Some file systems have no locks.
    ::close(fd_);
    throw ArgumentError(folder + ": another training writes to this folder");
  }
  ~FolderLock() { ::close(fd_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

json quality_json(const splat::Quality& q) {
  if (q.views == 0) return nullptr;
  return {{"psnr", number(q.psnr)}, {"ssim", number(q.ssim)}, {"views", q.views}};
}

struct SplatTrain {
  Context& context;
  splat::TrainOptions options{};
  splat::CaptureReading reading{};
  std::string input{}, folder{}, background = "0,0,0";
  std::int64_t save_every = 1000;
  bool resume = false, restart = false;

  const CLI::App* command = nullptr;

  /// An option that the run does not look at would be ignored without a word.
  void refuse_idle_options() const {
    const auto needs = [&](std::initializer_list<const char*> names, bool applies, const char* what) {
      for (const char* name : names)
        if (command->get_option(name)->count() > 0 && !applies)
          throw UsageError(std::string(name) + " is an option of " + what);
    };
    needs({"--random-points"}, options.start == Start::random, "--start random");
    needs({"--gradient", "--absolute", "--reset-every"}, options.densification == Densification::adaptive,
          "--densify adaptive");
    needs({"--refine-every", "--refine-from", "--refine-until"}, options.densification != Densification::fixed,
          "--densify adaptive and mcmc");
  }

  std::string in_folder(const char* name) const { return (fs::path(folder) / name).string(); }

  void read_background() {
    if (background == "random") {
      options.random_background = true;
      return;
    }
    const auto colour = comma_numbers(background, 3, "--background");
    options.background = reading.background = {colour[0], colour[1], colour[2]};
  }

  Trainer start(splat::Capture capture) const {
    const std::string checkpoint = in_folder("checkpoint.h5");
    std::error_code failed;
    const bool is_there = fs::exists(checkpoint, failed);
    if (failed) throw FormatError(checkpoint, 0, "cannot be looked for: " + failed.message());
    if (!is_there || restart) return Trainer(std::move(capture), options);
    if (!resume)
      throw ArgumentError(checkpoint + " is there: --resume goes on from it, --restart begins anew and replaces it");
    return Trainer(std::move(capture), options, checkpoint);
  }

  /// What a run that is killed goes on from, and what there is to see of it until then.
  void save(const Trainer& trainer) const {
    formats::write_gaussians(in_folder("scene.ply"), trainer.cloud());
    formats::write_text(in_folder("history.svg"), splat::history_plot(trainer.history()));
    trainer.save(in_folder("checkpoint.h5"));
  }

  void train(Trainer& trainer, Progress& progress) const {
    std::optional<double> mean;  // Of late; a run that is taken up again has none either.
    while (trainer.steps_done() < options.steps) {
      const splat::StepResult r = trainer.step();
      mean = mean ? 0.98 * *mean + 0.02 * r.loss : r.loss;
      char remark[64];
      std::snprintf(remark, sizeof remark, "loss %.4f, %lld Gaussians", *mean, static_cast<long long>(r.gaussians));
      progress.advance("training", r.step, options.steps, remark);
      if (r.step % save_every == 0 || r.step == options.steps) save(trainer);
    }
  }

  void report(const Trainer& trainer, const splat::Quality& seen, const splat::Quality& unseen) const {
    if (context.json) {
      print_json({{"folder", folder},
                  {"steps", trainer.steps_done()},
                  {"gaussians", trainer.gaussians()},
                  {"training", quality_json(seen)},
                  {"held_out", quality_json(unseen)}});
      return;
    }
    std::printf("%-18s %lld after %lld steps\n", "Gaussians", static_cast<long long>(trainer.gaussians()),
                static_cast<long long>(trainer.steps_done()));
    for (const auto& [what, q] : {std::pair{"training views", seen}, std::pair{"held-out views", unseen}})
      if (q.views > 0) std::printf("%-18s %.2f dB, SSIM %.4f, of %zu\n", what, q.psnr, q.ssim, q.views);
    std::printf("%-18s scene.ply, checkpoint.h5, history.svg, views.png in %s\n", "files", folder.c_str());
  }

  int run() {
    if (resume && restart) throw UsageError("--resume and --restart exclude each other");
    refuse_idle_options();
    read_background();
    check(options);
    warn_of_idle_device(options.device);
    auto progress = std::make_unique<Progress>();
    progress->stage("reading " + input);
    splat::Capture capture = splat::read_capture(input, reading);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw FormatError(folder, 0, "cannot create the folder: " + failed.message());
    const FolderLock lock(folder);
    if (::access(folder.c_str(), W_OK) != 0)  // Told now, not after a thousand steps.
      throw FormatError(folder, 0, "cannot write to the folder: " + std::generic_category().message(errno));
    Trainer trainer = start(std::move(capture));
    progress->stage("compiling");
    train(trainer, *progress);
    progress->stage("drawing the views");
    const auto held_out = trainer.held_out_views(), trained = trainer.training_views();
    const splat::Quality seen = trainer.quality(trained), unseen = trainer.quality(held_out);
    auto shown = held_out.empty() ? trained : held_out;
    shown.resize(std::min<std::size_t>(shown.size(), 8));
    formats::write_png(in_folder("views.png"), splat::contact_sheet(trainer, shown));
    progress.reset();
    report(trainer, seen, unseen);
    return 0;
  }
};

/// An option that takes one of some names. (CLI::CheckedTransformer shows small enumerations as control characters.)
template <class E>
void add_choice(CLI::App& c, const std::string& option, E& value, const std::map<std::string, E>& names,
                const std::string& what) {
  std::vector<std::string> known;
  for (const auto& [name, meaning] : names) known.push_back(name);
  c.add_option_function<std::string>(
       option, [&value, names](const std::string& name) { value = names.at(name); }, what)
      ->transform(CLI::IsMember(known, CLI::ignore_case));
}

void add_densification(CLI::App& c, splat::TrainOptions& o) {
  add_choice<Densification>(
      c, "--densify", o.densification,
      {{"adaptive", Densification::adaptive}, {"mcmc", Densification::mcmc}, {"fixed", Densification::fixed}},
      "how Gaussians come and go: adaptive (clone, split, prune; Kerbl 2023), mcmc (relocate, add, noise; "
      "Kheradmand 2024) or fixed");
  c.add_option("--most", o.most, "Gaussians at most")->capture_default_str();
  c.add_option("--refine-every", o.refine_every, "steps between densifications")->capture_default_str();
  c.add_option("--refine-from", o.refine_from, "steps before the first")->capture_default_str();
  c.add_option("--refine-until", o.refine_until, "step of the last (default: half of all, five of six with mcmc)");
  c.add_option("--gradient", o.adaptive.gradient, "adaptive: gradient in the image from which on Gaussians are made")
      ->capture_default_str();
  c.add_flag("--absolute", o.adaptive.absolute, "adaptive: sums of magnitudes over pixels; --gradient 8e-4 fits it");
  c.add_option("--reset-every", o.adaptive.reset_every, "adaptive: steps between resets of opacity")
      ->capture_default_str();
}

void add_learning(CLI::App& c, splat::TrainOptions& o) {
  c.add_option("--steps", o.steps, "how many, each of one image")->capture_default_str();
  c.add_option("--degree", o.degree, "of spherical harmonics, 0 to 4")->capture_default_str();
  c.add_option("--degree-every", o.degree_every, "steps after which the degree in use rises")->capture_default_str();
  c.add_option("--ssim", o.ssim, "share of 1 - SSIM in the loss")->capture_default_str();
  c.add_option("--opacity-regularizer", o.opacity_regularizer, "times the mean opacity (default: 0, mcmc 0.01)")
      ->check(number_from<double>(0));
  c.add_option("--scale-regularizer", o.scale_regularizer, "times the mean scale (default: 0, mcmc 0.01)")
      ->check(number_from<double>(0));
  add_choice<RenderMode>(c, "--mode", o.mode,
                         {{"classic", RenderMode::classic}, {"antialiased", RenderMode::antialiased}},
                         "classic or antialiased");
  add_choice<Start>(c, "--start", o.start, {{"points", Start::points}, {"random", Start::random}},
                    "Gaussians begin at the points of the capture, or at random: points, random");
  c.add_option("--random-points", o.random_points, "Gaussians of a random start")->capture_default_str();
  c.add_flag("--refine-poses", o.refine_poses, "also learn where the cameras of training views are");
  c.add_flag("--exposures", o.exposures, "also learn a map of colours for each training view");
  c.add_option("--hold-out", o.hold_out_every, "every so many views is kept for judging; 0: none")
      ->capture_default_str();
  c.add_option("--seed", o.seed, "of random numbers")->check(number_from<std::uint64_t>(0))->capture_default_str();
  add_device_option(c, o.device, "trains");
}

}  // namespace

void add_splat_train(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatTrain>(SplatTrain{context});
  CLI::App* c = add_command(splat, context, "train",
                            "Makes a scene of posed images: scene.ply, with checkpoints to resume from, a plot, and "
                            "views beside the truth.",
                            [s] { return s->run(); });
  s->command = c;
  c->add_option("capture", s->input, "folder of COLMAP, or transforms.json")->required();
  c->add_option("-o,--output", s->folder, "folder to write to")->required();
  c->add_option("--images", s->reading.images, "folder of the images, if it is not beside the capture");
  c->add_option("--scale", s->reading.scale, "of the images, from above 0 to 1")->capture_default_str();
  c->add_option("--background", s->background, "r,g,b from 0 to 1, or random: another one each step")
      ->capture_default_str();
  c->add_option("--save-every", s->save_every, "steps between checkpoints")
      ->check(number_from<std::int64_t>(1))
      ->capture_default_str();
  c->add_flag("--resume", s->resume, "go on from the folder's checkpoint where there is one");
  c->add_flag("--restart", s->restart, "replace a checkpoint that is there");
  add_learning(*c, s->options);
  add_densification(*c, s->options);
}

}  // namespace rlx::cli
