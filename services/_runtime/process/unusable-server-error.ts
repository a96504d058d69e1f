/** The error, in one line, for a server that only an operator can fix, such as a wrong password. Ends the process. */
export class UnusableServerError extends Error {
  readonly problem: string;

  constructor(server: string, { problem, advice }: { problem: string; advice: string }) {
    super(`${server} cannot be used: ${problem.replace(/\s*\n\s*/g, " ").replace(/\.$/, "")}. ${advice}`);
    this.name = "UnusableServerError";
    this.problem = problem;
  }
}

/** Ends the process if `contact`, the first connection to a server, rejects because the server cannot be used. */
export function endProcessIfServerIsUnusable(contact: Promise<unknown>): void {
  contact.catch((error) => {
    // `runProcessUntilSignal` handles the unhandled rejection.
    if (error instanceof UnusableServerError) throw error;
  });
}

/** Returns whether a TLS connection failed because of its certificates or because the other side does not use TLS. */
export function isTlsFailure({ code = "", message }: Error & { code?: unknown }): boolean {
  return (
    /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_(?:SSL|TLS)_|^EPROTO$/.test(String(code)) ||
    /before secure TLS connection was established|does not support 'tls'/.test(message)
  );
}

/** Returns advice on a TLS failure. `setting` is the part of the URL that enables TLS. */
export const tlsAdvice = (variable: string, setting: string) =>
  `Check TLS in ${variable} (${setting}), TLS_CA_FILE, TLS_CERT_FILE and TLS_KEY_FILE.`;

/** Returns whether a version, such as 2.9.10, is at least `minVersion`. A version without a number counts as older. */
export const isVersionAtLeast = (version: string, minVersion: string): boolean =>
  version.localeCompare(minVersion, "en", { numeric: true }) >= 0;
