#include <rlx/splat/train.hpp>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>

namespace rlx::splat {

namespace {

constexpr double left = 70, right = 70, top = 30, bottom = 40, width = 720, height = 400;

[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...) {
  char text[256];
  std::va_list list;
  va_start(list, format);
  std::vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return text;
}

struct Axis {
  double from, to;
  double place(double x) const { return to > from ? (x - from) / (to - from) : 0.5; }  ///< 0 to 1.
};

std::string line(const std::vector<HistoryEntry>& history, const Axis& steps, const Axis& values, const char* colour,
                 const std::function<double(const HistoryEntry&)>& value) {
  std::string points;
  for (const HistoryEntry& h : history)
    points += formatted("%.1f,%.1f ", left + steps.place(static_cast<double>(h.step)) * (width - left - right),
                        height - bottom - values.place(value(h)) * (height - top - bottom));
  return formatted("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour) + points + "\"/>\n";
}

std::string label(double x, double y, const char* anchor, const char* colour, const std::string& text) {
  return formatted("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour) + text +
         "</text>\n";
}

}  // namespace

std::string history_plot(const std::vector<HistoryEntry>& history) {
  constexpr const char *loss_colour = "#1f5fa8", *count_colour = "#b3541e", *ink = "#444";
  std::string svg = formatted(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height);
  svg += formatted("<path fill=\"none\" stroke=\"%s\" d=\"M%.0f %.0fV%.0fH%.0fV%.0f\"/>\n", ink, left, top,
                   height - bottom, width - right, top);
  svg += label(left, top - 10, "middle", loss_colour, "loss");
  svg += label(width - right, top - 10, "middle", count_colour, "Gaussians");
  if (!history.empty()) {
    const auto loss = [](const HistoryEntry& h) { return std::log10(std::max(h.loss, 1e-12)); };
    const auto count = [](const HistoryEntry& h) { return static_cast<double>(h.gaussians); };
    Axis steps{0, static_cast<double>(history.back().step)}, losses{loss(history[0]), loss(history[0])},
        counts{0, count(history[0])};
    for (const HistoryEntry& h : history) {
      losses = {std::min(losses.from, loss(h)), std::max(losses.to, loss(h))};
      counts.to = std::max(counts.to, count(h));
    }
    svg += line(history, steps, losses, loss_colour, loss) + line(history, steps, counts, count_colour, count);
    for (int k = 0; k <= 4; ++k) {
      const double part = k / 4.0, y = height - bottom - part * (height - top - bottom) + 4;
      svg += label(left - 6, y, "end", loss_colour,
                   formatted("%.3g", std::pow(10, losses.from + part * (losses.to - losses.from))));
      svg += label(width - right + 6, y, "start", count_colour, formatted("%.0f", part * counts.to));
      svg += label(left + part * (width - left - right), height - bottom + 18, "middle", ink,
                   formatted("%.0f", part * steps.to));
    }
  }
  return svg + label(width / 2, height - 6, "middle", ink, "step") + "</svg>\n";
}

}  // namespace rlx::splat
