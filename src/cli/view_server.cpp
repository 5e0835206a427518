#include "view_server.hpp"

#include "embedded_file.hpp"

#include <rlx/ir/error.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

namespace rlx::cli {

namespace {

constexpr const char* host = "127.0.0.1";

std::string_view content_type(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

/// "localhost:8080": the name without the port.
bool is_this_machine(const std::string& name) {
  const std::string bare = name.substr(0, name.rfind(':'));
  return bare == host || bare == "localhost";
}

void refuse(httplib::Response& answer, int status, const char* why) {
  answer.status = status;
  answer.set_content(why, "text/plain; charset=utf-8");
}

void answer_status(LiveScene& scene, httplib::Response& answer) {
  const ViewState s = scene.look();
  const nlohmann::json j{
      {"scene", scene.file()}, {"version", s.version}, {"gaussians", s.gaussians}, {"error", s.error}};
  answer.set_content(j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "application/json");
}

void answer_scene(LiveScene& scene, httplib::Response& answer) {
  const ViewState s = scene.look();
  if (!s.bytes) return refuse(answer, 404, "there is no scene yet");
  answer.set_header("X-Scene-Version", std::to_string(s.version));
  answer.set_content_provider(s.bytes->size(), "application/octet-stream",
                              [bytes = s.bytes](std::size_t at, std::size_t left, httplib::DataSink& sink) {
                                constexpr std::size_t piece = 1 << 20;  // `left`: a request may ask for a range
                                return sink.write(bytes->data() + at, std::min(piece, left));
                              });
}

void answer_file(const std::string& name, httplib::Response& answer) {
  for (const EmbeddedFile& file : view_files())
    if (file.name == name)
      return answer.set_content(file.text.data(), file.text.size(), std::string(content_type(name)));
  refuse(answer, 404, "there is no such page");
}

httplib::Server::HandlerResponse before(const httplib::Request& request, httplib::Response& answer) {
  answer.set_header("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'");
  answer.set_header("Cross-Origin-Resource-Policy", "same-origin");
  answer.set_header("X-Content-Type-Options", "nosniff");
  answer.set_header("Cache-Control", "no-store");
  if (request.has_header("Range")) {  // The library would send other bytes than the header of its answer promises.
    answer.status = 416;
    return httplib::Server::HandlerResponse::Handled;
  }
  if (is_this_machine(request.get_header_value("Host"))) return httplib::Server::HandlerResponse::Unhandled;
  refuse(answer, 403, "this is a server for 127.0.0.1");
  return httplib::Server::HandlerResponse::Handled;
}

/// Ends the connections of this process at `port`: a client that reads slowly or says nothing holds no thread up then.
/// (The library tells no one its sockets.)
void end_connections(int port) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int descriptor = std::stoi(entry.path().filename().string());
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.sin_family == AF_INET &&
        ntohs(address.sin_port) == port)
      ::shutdown(descriptor, SHUT_RDWR);
  }
}

}  // namespace

void serve_view(LiveScene& scene, int port, const std::function<void(int)>& started) {
  // Blocked before there are threads, which inherit it: only sigtimedwait below sees them.
  sigset_t ends, before_them;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, &before_them);

  httplib::Server server;
  // The library would let two programs share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_write_timeout(std::chrono::minutes(1));  // Of a browser that is busy.
  server.set_pre_routing_handler(&before);
  server.Get("/", [](const httplib::Request&, httplib::Response& answer) { answer_file("index.html", answer); });
  server.Get("/status", [&](const httplib::Request&, httplib::Response& answer) { answer_status(scene, answer); });
  server.Get("/scene", [&](const httplib::Request&, httplib::Response& answer) { answer_scene(scene, answer); });
  server.Get(R"(/([^/]+))", [](const httplib::Request& request, httplib::Response& answer) {
    answer_file(request.matches[1], answer);
  });
  errno = 0;
  const bool bound = port == 0 ? (port = server.bind_to_any_port(host)) > 0 : server.bind_to_port(host, port);
  if (!bound) {
    const int code = errno;
    throw DeviceError("bind", code,
                      "port " + std::to_string(port) + " of " + host + " cannot be had" +
                          (code != 0 ? std::string(": ") + std::strerror(code) : std::string()));
  }
  std::atomic<bool> ended = false;
  std::thread listener([&] {
    server.listen_after_bind();
    ended = true;
  });
  const auto end = [&] {
    server.stop();
    while (!ended) {  // Again: a connection may just have been made.
      end_connections(port);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    listener.join();
  };
  while (!server.is_running() && !ended) std::this_thread::yield();  // stop() does nothing before.
  try {
    started(port);
  } catch (...) {
    end();
    throw;
  }
  constexpr timespec look{0, 200'000'000};
  int signal = 0;
  while (!ended && (signal = ::sigtimedwait(&ends, nullptr, &look)) < 0) {}
  ::pthread_sigmask(SIG_SETMASK, &before_them, nullptr);  // Nothing holds a second one up.
  end();
  if (signal <= 0) throw DeviceError("accept", 0, "the server on port " + std::to_string(port) + " ended by itself");
}

}  // namespace rlx::cli
