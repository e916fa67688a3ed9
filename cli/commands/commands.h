#pragma once

#include "flags/cli11.h"

namespace ration::cli {

// The whole command line, without --version.
void add_commands(CLI::App& app);

// Each adds one command with its flags, help and what it runs.
void add_account(CLI::App& app);
void add_audit(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_coefficients(CLI::App& app);
void add_compare(CLI::App& app);
void add_completion(CLI::App& app);
void add_demo(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_ledger(CLI::App& app);
void add_manual(CLI::App& app);
void add_plan(CLI::App& app);
void add_predict(CLI::App& app);
void add_protector(CLI::App& app);
void add_schedule(CLI::App& app);
void add_schema(CLI::App& app);
void add_train(CLI::App& app);
void add_verify(CLI::App& app);

// In the order of `ration --help`.
inline constexpr void (*kCommands[])(CLI::App&) = {
    add_account,   add_audit,    add_calibrate, add_coefficients, add_compare, add_completion,
    add_demo,      add_evaluate, add_ledger,    add_manual,       add_plan,    add_predict,
    add_protector, add_schedule, add_schema,    add_train,        add_verify};

}  // namespace ration::cli
