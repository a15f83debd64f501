// Stands in for the package `tinyrainbow`, which reads the environment at the top level.
export default new Proxy({}, { get: () => String });
