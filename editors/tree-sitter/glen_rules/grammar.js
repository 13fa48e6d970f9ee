// SPDX-License-Identifier: MIT
module.exports = require("../grammar")("glen_rules", {
  variables: true, parameters: true, arrows: true,
});
