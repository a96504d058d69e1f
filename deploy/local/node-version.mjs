/** Exits with a message when this Node.js is too old. Imported first, and written for old versions. */
const minVersion = { major: 20, minor: 19 };
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < minVersion.major || (major === minVersion.major && minor < minVersion.minor)) {
  console.error(
    `Node.js ${minVersion.major}.${minVersion.minor} or newer is needed; this is ${process.versions.node}. See https://nodejs.org`,
  );
  process.exit(1);
}
