// SPDX-License-Identifier: MIT
module.exports = require("../grammar")("glen", {});
