#pragma once

#include <CLI/CLI.hpp>

namespace ration::cli {

// The whole command line, without --version.
void add_commands(CLI::App& app);

// Each adds one command with its flags, help and what it runs.
void add_account(CLI::App& app);
void add_calibrate(CLI::App& app);
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

}  // namespace ration::cli
