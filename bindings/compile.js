// Compiles one component for another process: the program that the option `compiler` of `Runtime.create` names.
require("./index.js").compileChild();
