// The names by which code in other languages starts commands, or may. Internal
// to scan.cc.
//
// Names that mean something else in a program of that language are harmless: a
// command that is not there makes the reading less clear, never clearer.
#pragma once

#include <string_view>

namespace gate::parser {

// What hides what runs: other ways of starting it, computed names, code made
// of text.
inline constexpr std::string_view kPythonUnclear[] = {"popen2",
                                                      "spawnl",
                                                      "spawnv",
                                                      "spawnvp",
                                                      "spawnlp",
                                                      "posix_spawn",
                                                      "execl",
                                                      "execv",
                                                      "execve",
                                                      "execvp",
                                                      "execlp",
                                                      "execvpe",
                                                      "pty",
                                                      "__import__",
                                                      "importlib",
                                                      "ctypes",
                                                      "eval",
                                                      "exec",
                                                      "compile",
                                                      "getattr",
                                                      "globals",
                                                      "builtins",
                                                      "marshal",
                                                      "pickle",
                                                      "runpy",
                                                      "commands",
                                                      "pexpect",
                                                      "sh",
                                                      "plumbum",
                                                      "create_subprocess_shell",
                                                      "create_subprocess_exec"};
// One text, for a shell.
inline constexpr std::string_view kPythonShells[] = {
    "system", "popen", "getoutput", "getstatusoutput"};
// Members of `subprocess`: a list of words, or a text.
inline constexpr std::string_view kPythonRuns[] = {"run", "call", "check_call",
                                                   "check_output", "Popen"};
inline constexpr std::string_view kPerlUnclear[] = {
    "qx",   "open",  "readpipe", "eval", "require", "do",  "syscall",
    "fork", "open2", "open3",    "IPC",  "pipe",    "glob"};
inline constexpr std::string_view kRubyUnclear[] = {
    "popen", "Open3", "eval",          "send", "syscall",
    "fork",  "PTY",   "instance_eval", "open", "Fiddle"};
inline constexpr std::string_view kNodeUnclear[] = {
    "eval", "Function", "binding", "dlopen", "Worker", "fork", "vm"};
// One text, for a shell.
inline constexpr std::string_view kPhpCommands[] = {"system", "exec",
                                                    "shell_exec", "passthru"};
inline constexpr std::string_view kPhpUnclear[] = {
    "popen",   "proc_open", "pcntl_exec",      "eval",          "assert",
    "include", "require",   "create_function", "call_user_func"};
inline constexpr std::string_view kLuaCommands[] = {"execute", "popen"};
inline constexpr std::string_view kLuaUnclear[] = {
    "load", "loadstring", "dofile", "require", "loadfile"};
inline constexpr std::string_view kM4Unclear[] = {"syscmd", "esyscmd",
                                                  "include", "sinclude"};
inline constexpr std::string_view kPerlOpen = "open";

}  // namespace gate::parser
