// rlx splat train CAPTURE -o FOLDER: Gaussians whose renders are the images of a capture.
#include "compile_flags.hpp"
#include "json_output.hpp"
#include "option_checks.hpp"
#include "progress.hpp"
#include "splat.hpp"
#include "splat_folder.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/formats/text_file.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/train.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace rlx::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using splat::Trainer;

constexpr const char* checkpoint_name = "checkpoint.h5";

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
    splat::for_each_option(options, [&](const splat::OptionAt& at, const auto&) {
      if (at.facts.flag.empty() || splat::looked_at(at.facts.use, options)) return;
      const std::string flag(at.facts.flag);
      if (command->get_option(flag)->count() > 0)
        throw UsageError(flag + " is an option of " + std::string(splat::needed_for(at.facts.use)));
    });
  }

  std::string in_folder(const char* name) const { return (fs::path(folder) / name).string(); }

  void read_background() {
    if (background == "random") {
      options.random_background = true;
      return;
    }
    options.background = reading.background = parse_background(background);
  }

  std::string checkpoint() const { return in_folder(checkpoint_name); }

  /// Whether the folder holds a training to go on from. One that it must not replace, and anything else, is refused.
  bool continues() const {
    std::error_code failed;
    const bool is_there = fs::exists(checkpoint(), failed);
    if (failed) throw FormatError(checkpoint(), 0, "cannot be looked for: " + failed.message());
    if (!is_there) {
      refuse_foreign_entries(folder, {checkpoint_name}, "and no checkpoint of a training");
      return false;
    }
    if (!resume && !restart)
      throw ArgumentError(checkpoint() + " is there: --resume goes on from it, --restart begins anew and replaces it");
    return resume;
  }

  /// What there is to see of a run.
  void show(const Trainer& trainer) const {
    formats::write_gaussians(in_folder("scene.ply"), trainer.cloud());
    formats::write_text(in_folder("history.svg"), splat::history_plot(trainer.history()));
  }

  Trainer start(splat::Capture capture) const {
    if (!continues()) return Trainer(std::move(capture), options);
    Trainer trainer(std::move(capture), options, checkpoint());
    show(trainer);  // It may have been killed after the checkpoint, before these.
    return trainer;
  }

  /// The checkpoint comes first: where one is, the rest is of a training too and may be replaced.
  void save(const Trainer& trainer) const {
    trainer.save(checkpoint());
    show(trainer);
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
    (void)continues();  // What is refused is told before the images are read.
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

/// What is wrong with a text for an option of training, or nothing.
template <class T>
std::function<std::string(const std::string&)> number_in(const splat::OptionRange& range) {
  return [range](const std::string& text) -> std::string {
    T x{};
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, x);
    if (failure == std::errc{} && stop == end && range.holds(static_cast<double>(x))) return {};
    return "\"" + text + "\" is no " + (std::is_integral_v<T> ? "whole number " : "number ") + range.text();
  };
}

/// (CLI::CheckedTransformer shows small enumerations as control characters.)
template <class E>
CLI::Option* add_choice(CLI::App& c, const std::string& flag, E& value, const std::string& doc) {
  const auto names = enum_names(E{});
  return c
      .add_option_function<std::string>(
          flag,
          [&value, names](const std::string& name) {
            value = static_cast<E>(std::ranges::find(names, name) - names.begin());
          },
          doc)
      ->transform(CLI::IsMember(std::vector<std::string>(names.begin(), names.end()), CLI::ignore_case))
      ->default_str(std::string(names[static_cast<std::size_t>(value)]));
}

/// A flag for every option that has one, as the table says.
void add_training_options(CLI::App& c, splat::TrainOptions& options) {
  splat::for_each_option(options, [&]<class T>(const splat::OptionAt& at, T& value) {
    const std::string flag(at.facts.flag), doc(at.facts.doc);
    if (flag.empty()) return;
    CLI::Option* added = nullptr;
    if constexpr (std::is_same_v<T, bool>) {
      added = c.add_flag(flag, value, doc);
    } else if constexpr (std::is_enum_v<T>) {
      added = add_choice(c, flag, value, doc);
    } else if constexpr (std::is_arithmetic_v<T>) {
      added = c.add_option(flag, value, doc)->check(number_in<T>(at.facts.range));
      if (!at.facts.automatic) added->capture_default_str();
    }
    if (added && !at.title.empty()) added->group(std::string(at.title));
  });
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
  c->add_option("-o,--output", s->folder, "folder to write to: new, empty or of a training")->required();
  c->add_option("--images", s->reading.images, "folder of the images, if it is not beside the capture");
  c->add_option("--scale", s->reading.scale, "of the images, above 0 and at most 1")
      ->check(number_in<double>(splat::OptionRange::share()))
      ->capture_default_str();
  c->add_option("--background", s->background, "r,g,b from 0 to 1, or random: another one each step")
      ->capture_default_str();
  c->add_option("--save-every", s->save_every, "steps between checkpoints")
      ->check(number_from<std::int64_t>(1))
      ->capture_default_str();
  c->add_flag("--resume", s->resume, "go on from the folder's checkpoint where there is one");
  c->add_flag("--restart", s->restart, "replace a checkpoint that is there");
  add_device_option(*c, s->options.device, "trains");
  add_training_options(*c, s->options);
}

}  // namespace rlx::cli
