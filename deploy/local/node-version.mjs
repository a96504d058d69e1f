/** Exits with a message if this Node.js is too old. Must be imported first, and must also run on old versions. */
const minVersion = { major: 20, minor: 19 };
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < minVersion.major || (major === minVersion.major && minor < minVersion.minor)) {
  console.error(
    `Node.js ${minVersion.major}.${minVersion.minor} or newer is required, but this is Node.js ${process.versions.node}. See https://nodejs.org`,
  );
  process.exit(1);
}
