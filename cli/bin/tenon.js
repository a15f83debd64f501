#!/usr/bin/env node
// ECMAScript 5 and CommonJS: every version of Node can read this file, and an old one says which is needed.
"use strict";

var here;
var needed = /[0-9.]+/.exec(require("../package.json").engines.node)[0];

if (isOlder(process.versions.node, needed)) {
  here = process.versions.node + " (" + process.execPath + ")";
  process.stderr.write("error: tenon needs Node " + needed + " or newer; this is Node " + here + "\n");
  process.stderr.write("hint: install a newer one, with `nvm install 22` or from https://nodejs.org\n");
  process.exitCode = 1;
} else {
  require("./start.js");
}

/** Compares versions such as 20.19 by their numbers. */
function isOlder(version, than) {
  var own = version.split(".");
  var other = than.split(".");
  var i;
  for (i = 0; i < other.length; i++) {
    if (Number(own[i]) !== Number(other[i])) return Number(own[i]) < Number(other[i]);
  }
  return false;
}
