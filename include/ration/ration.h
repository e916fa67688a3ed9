// Stable: changes only with a new major version.
#pragma once

// Everything a program needs to train a private model and to account for it. It includes stable headers only;
// base/error.h says what is thrown.
#include "ration/base/error.h"
#include "ration/data/census.h"
#include "ration/data/table.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "ration/privacy/certificate.h"
#include "ration/privacy/ledger.h"
#include "ration/train/fit.h"
#include "ration/train/forecast.h"
#include "ration/train/intervals.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"
#include "ration/train/run.h"
