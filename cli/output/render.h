// Decisions as text for people.
#pragma once

#include <string>

#include "engine/evaluate.h"
#include "gateway/answer_texts.h"
#include "gateway/gateway.h"

namespace gate::app {

// The answer of `gate check`: the action, the command, why, what else to do.
std::string RenderDecision(const Authorization& authorization, bool colour);

// The answer as a question: the command whole, and where it would run.
std::string RenderAsked(const Authorization& authorization, bool colour,
                        size_t columns);

// What `--explain` adds, the reasons first: the rules that matched, the
// unknowns with carets under the source, every command of the line with its own
// verdict, the effects, and the rules that matched and were set aside. With
// `misses` also the nearest ones, and every rule that was tried.
std::string RenderExplanation(const Authorization& authorization,
                              const engine::Trace& trace, bool misses,
                              bool colour);

// The rules that hold but do not count (excepted, disabled, expired …), with
// why; empty where there are none.
std::string RenderSetAside(const engine::Trace& trace);

// What the rules said and which stages changed that, in order; empty when none
// did.
std::string RenderStages(const engine::Trace& trace);

// One command as a person would write it; what is unknown stands as ‹?›.
std::string CommandText(const parser::Invocation& invocation);

// For `explain --trace`: every rule that was tried, by command, and how it
// fared.
std::string RenderTried(const Authorization& authorization,
                        const engine::Trace& trace, bool colour);

// `gate explain --why-not ACTION`: what keeps the decision from being `wanted`,
// and the rules of that action that came nearest.
std::string RenderWhyNot(const Authorization& authorization,
                         const engine::Trace& trace, rules::Action wanted);

// The rules that missed by least, nearest first, at most `most`; with
// `wanted`, of this action only.
std::string RenderNearest(const engine::Trace& trace,
                          const rules::Action* wanted, size_t most);

// `gate parse`: what runs, through what, what it touches, what is not known.
std::string RenderAnalysis(std::string_view source,
                           const parser::Analysis& analysis, bool colour);

// `span` of `source` with a caret line below; several lines are shortened.
std::string RenderCarets(std::string_view source, Span span, bool colour);

// For the person whom a client asks in its own way: why, the command as the
// agent wrote it (the client may show the line that it was rewritten to), and
// what a yes gives. Nothing that an agent is to do. Not `is_command`: of a tool
// that reads or writes files the reason alone, since the client shows the rest.
std::string QuestionText(const Authorization& authorization, bool is_command);

// The command for such a question, each line of it marked; a newline before it.
// A command too long to be answered so is replaced by its length.
std::string CommandAsked(const Authorization& authorization);

// One line for the agent: why the command was refused, the rule, the way on,
// and at its end what not to do. `yes_id`: of the question that a person can
// answer by `gate approve`.
std::string RefusalText(const Authorization& authorization,
                        std::string_view yes_id = "");

}  // namespace gate::app
