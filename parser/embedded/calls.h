// The calls by which code in python, perl, ruby, node, php and lua works on
// files and hosts. Internal to files.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace gate::parser {

// What a call does with its first argument.
enum class Does : uint8_t {
  kRead,
  kWrite,
  kOpen,  // by the mode that follows
  kDelete,
  kDeleteAll,
  kMove,  // the first goes to the second
  kCopy,
  kPermission,
  kReadsSelf,   // a method of a path that is computed
  kWritesSelf,  // the same
  kPath,        // a path object: what is called on it says what happens
  kNetwork,     // it, or what it makes, talks to a host
  kListen,
};

struct FileCall {
  std::string_view name;
  Does does;
};

// Names that mean something else in one of the languages are
// harmless there: an effect more is only possible, never an effect less.
inline constexpr FileCall kCalls[] = {
    {"File", Does::kPath},
    {"HTTPServer", Does::kListen},
    {"HTTPSConnection", Does::kNetwork},
    {"HTTP", Does::kNetwork},
    {"HTTPConnection", Does::kNetwork},
    {"IO", Does::kPath},
    {"LWP", Does::kNetwork},
    {"Path", Does::kPath},
    {"TCPServer", Does::kListen},
    {"TCPSocket", Does::kNetwork},
    {"UDPSocket", Does::kNetwork},
    {"WEBrick", Does::kListen},
    {"WebSocket", Does::kNetwork},
    {"aiohttp", Does::kNetwork},
    {"appendFile", Does::kWrite},
    {"appendFileSync", Does::kWrite},
    {"axios", Does::kNetwork},
    {"boto3", Does::kNetwork},
    {"chmod", Does::kPermission},
    {"chmodSync", Does::kPermission},
    {"chown", Does::kPermission},
    {"chownSync", Does::kPermission},
    {"copy", Does::kCopy},
    {"copy2", Does::kCopy},
    {"copyFile", Does::kCopy},
    {"copyFileSync", Does::kCopy},
    {"copyfile", Does::kCopy},
    {"copytree", Does::kCopy},
    {"cpSync", Does::kCopy},
    {"createConnection", Does::kNetwork},
    {"createReadStream", Does::kRead},
    {"createServer", Does::kListen},
    {"createWriteStream", Does::kWrite},
    {"create_connection", Does::kNetwork},
    {"create_server", Does::kListen},
    {"curl_exec", Does::kNetwork},
    {"curl_init", Does::kNetwork},
    {"fetch", Does::kNetwork},
    {"file_get_contents", Does::kRead},
    {"file_put_contents", Does::kWrite},
    {"fopen", Does::kOpen},
    {"fsockopen", Does::kNetwork},
    {"ftplib", Does::kNetwork},
    {"getprint", Does::kNetwork},
    {"getstore", Does::kNetwork},
    {"highlight_file", Does::kRead},
    {"http", Does::kNetwork},
    {"httplib", Does::kNetwork},
    {"https", Does::kNetwork},
    {"httpx", Does::kNetwork},
    {"io", Does::kPath},
    {"lines", Does::kRead},
    {"makedirs", Does::kWrite},
    {"mkdir", Does::kWrite},
    {"mkdirSync", Does::kWrite},
    {"mkdir_p", Does::kWrite},
    {"move", Does::kMove},
    {"net", Does::kNetwork},
    {"open", Does::kOpen},
    {"openSync", Does::kOpen},
    {"paramiko", Does::kNetwork},
    {"pfsockopen", Does::kNetwork},
    {"readFile", Does::kRead},
    {"read_bytes", Does::kReadsSelf},
    {"read_text", Does::kReadsSelf},
    {"readFileSync", Does::kRead},
    {"read_csv", Does::kRead},
    {"read_excel", Does::kRead},
    {"read_json", Does::kRead},
    {"readfile", Does::kRead},
    {"remove", Does::kDelete},
    {"remove_dir", Does::kDelete},
    {"remove_tree", Does::kDeleteAll},
    {"removedirs", Does::kDelete},
    {"rename", Does::kMove},
    {"renameSync", Does::kMove},
    {"renames", Does::kMove},
    {"requests", Does::kNetwork},
    {"rm", Does::kDelete},
    {"rmSync", Does::kDeleteAll},
    {"rm_f", Does::kDelete},
    {"rm_r", Does::kDeleteAll},
    {"rm_rf", Does::kDeleteAll},
    {"rmdir", Does::kDelete},
    {"rmdirSync", Does::kDelete},
    {"rmtree", Does::kDeleteAll},
    {"show_source", Does::kRead},
    {"smtplib", Does::kNetwork},
    {"socket", Does::kNetwork},
    {"stream_socket_client", Does::kNetwork},
    {"stream_socket_server", Does::kListen},
    {"symlink", Does::kCopy},
    {"symlinkSync", Does::kCopy},
    {"telnetlib", Does::kNetwork},
    {"tls", Does::kNetwork},
    {"to_csv", Does::kWrite},
    {"to_excel", Does::kWrite},
    {"to_json", Does::kWrite},
    {"touch", Does::kWrite},
    {"unlink", Does::kDelete},
    {"unlinkSync", Does::kDelete},
    {"urlopen", Does::kNetwork},
    {"urlretrieve", Does::kNetwork},
    {"write_bytes", Does::kWritesSelf},
    {"write_text", Does::kWritesSelf},
    {"writeFile", Does::kWrite},
    {"writeFileSync", Does::kWrite},
};

// Modules whose use says that the code talks to hosts: require("http"), import
// … from "node:net".
inline constexpr std::string_view kNetworkModules[] = {
    "http",      "https",      "net",      "tls",   "dgram",  "http2",
    "axios",     "node-fetch", "got",      "ws",    "undici", "socket.http",
    "ssl.https", "open-uri",   "net/http", "socket"};
// Objects whose methods work on files.
inline constexpr std::string_view kFileObjects[] = {
    "os",  "shutil", "fs",  "io",       "FileUtils", "File",   "IO",
    "Dir", "Deno",   "Bun", "promises", "fsp",       "codecs", "gzip"};
// What is called on a path object.
inline constexpr std::string_view kReadingMethods[] = {
    "read_text", "read_bytes", "read",    "readlines", "binread",
    "foreach",   "lines",      "iterdir", "glob",      "rglob"};
inline constexpr std::string_view kWritingMethods[] = {
    "write_text", "write_bytes", "write",       "binwrite", "touch",
    "mkdir",      "symlink_to",  "hardlink_to", "output"};
inline constexpr std::string_view kDeletingMethods[] = {"unlink", "rmdir",
                                                        "delete", "rename"};
inline constexpr std::string_view kPermissionMethod = "chmod";
inline constexpr std::string_view kOpenMethod = "open";
inline constexpr std::string_view kNewMethod = "new";

}  // namespace gate::parser
