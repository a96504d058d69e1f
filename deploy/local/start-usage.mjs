/** The variables of `npm start`. docs/operations.md describes them further. */
export const startUsage = `Usage: [variable=value ...] npm start

Starts PostgreSQL, NATS, Redis, the API with a demo, the documentation and the
console, and runs until Ctrl-C. It has no options, only environment variables:

  PORT=4000                Port of the API
  OPS_PORT=4090            Port for operators
  PORTAL_PORT=3000         Port of the documentation
  CONSOLE_PORT=3002        Port of the console
  SANDBOX_INBOX_PORT=4010  Port of the inboxes of sandboxes
  PRAGMA_HOME=.pragma      Folder for all data
  PRAGMA_SERVERS=docker    Prefer servers in Docker to those on this machine
  PRAGMA_LIVE_DEMO=off     Do not simulate live orders
  SANDBOXES=off            Do not offer sandboxes
  LISTEN_HOST=0.0.0.0      Let other machines reach all of this
  PUBLIC_URL, DOCS_URL, CONSOLE_URL
                           URLs for other machines, instead of localhost

"Run on one machine" in docs/operations.md describes them.`;

/**
 * Prints the usage and exits if `npm start` has arguments: with code 0 if they ask for it, and with 1 otherwise, because
 * starting with an option that has no effect would mislead.
 * @param {string[]} args
 */
export function exitWithUsageIfAny(args) {
  if (args.length === 0) return;
  const unknown = args.find((arg) => arg !== "--help" && arg !== "-h");
  if (unknown === undefined) console.log(startUsage);
  else console.error(`npm start does not know ${unknown}.\n\n${startUsage}`);
  process.exit(unknown === undefined ? 0 : 1);
}
