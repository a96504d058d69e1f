import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { type ServerTls, tlsContents } from "./server-tls.ts";

/**
 * What the URL of a PostgreSQL server says of TLS, in libpq's words: `sslmode` left out or `disable` is none; `require`
 * encrypts, and checks the certificate when authorities are given; `verify-ca` checks it; `verify-full` its name, too.
 *
 * @throws `Error` for another sslmode: one that may or may not encrypt is no protection.
 */
export function postgresTls(url: string, tls: ServerTls): ConnectionOptions | false {
  const { searchParams, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const mode = searchParams.get("sslmode") ?? "disable";
  const contents = tlsContents(tls);
  const anyName = { checkServerIdentity: () => undefined };
  switch (mode) {
    case "disable":
      return false;
    case "require":
      return { ...contents, ...anyName, rejectUnauthorized: contents.ca !== undefined };
    case "verify-ca":
      return { ...contents, ...anyName, rejectUnauthorized: true };
    case "verify-full":
      return { ...contents, host, servername: isIP(host) ? "" : host, rejectUnauthorized: true };
    default:
      throw new Error(
        `The sslmode of DATABASE_URL is one of disable, require, verify-ca and verify-full, not ${mode}.`,
      );
  }
}
