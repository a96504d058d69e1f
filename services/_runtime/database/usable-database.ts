import postgres from "postgres";
import { describeDatabase } from "../config/service-databases.ts";
import { isTlsFailure, tlsAdvice, UnusableServerError } from "../process/unusable-server-error.ts";
import type { Database, SqlClient } from "./postgres.ts";

const minMajorVersion = 15;

const urlAdvice = "Correct the URL in DATABASE_URL, or in the variable of the service.";
/** Advice on errors of PostgreSQL that remain until an operator changes something, by SQLSTATE. */
const adviceBySqlState: Partial<Record<string, string>> = {
  "28P01": urlAdvice,
  "28000": `${urlAdvice} If it is right, allow this role to connect in pg_hba.conf.`,
  "3D000": `${urlAdvice} Or create the database.`,
  "42501": "Grant the permission as the owner of the database, or run the migrate command as the owner.",
};

/** The SQLSTATE of most errors of PgBouncer, including transient ones. */
const protocolViolation = "08P01";
/** The errors of PgBouncer that remain until an operator changes something, and advice. */
const poolerProblems: [RegExp, string][] = [
  [
    /unsupported startup parameter/,
    "Remove the parameter from the URL in DATABASE_URL, or add it to ignore_startup_parameters of PgBouncer.",
  ],
  [/authentication failed|no such user|no such database|database .* does not exist/, urlAdvice],
];

/** Returns the error for the operator if a connection or statement fails until an operator changes something. */
export function toUnusableDatabaseError(error: unknown, url: string): UnusableServerError | undefined {
  if (!(error instanceof Error)) return undefined;
  const advice = findAdvice(error);
  return advice === undefined ? undefined : createError(url, { problem: error.message, advice });
}

function findAdvice(error: Error): string | undefined {
  if (!(error instanceof postgres.PostgresError))
    return isTlsFailure(error) ? tlsAdvice("DATABASE_URL", "sslmode") : undefined;
  if (error.code !== protocolViolation) return adviceBySqlState[error.code];
  return poolerProblems.find(([pattern]) => pattern.test(error.message))?.[1];
}

const createError = (url: string, reason: { problem: string; advice: string }) =>
  new UnusableServerError(`PostgreSQL at ${describeDatabase(url)}`, reason);

interface PostgresServerTraits {
  version: string;
  hasLz4: boolean;
}

/** Returns why the product cannot run on a PostgreSQL server, and advice; undefined if it can. */
export function findPostgresServerProblem({ version, hasLz4 }: PostgresServerTraits) {
  if (Number.parseInt(version, 10) < minMajorVersion)
    return { problem: `its version is ${version}`, advice: `Use PostgreSQL ${minMajorVersion} or newer.` };
  if (!hasLz4)
    return {
      problem: "it was built without lz4",
      advice: "Use a build with lz4 (configure --with-lz4), as packages are.",
    };
  return undefined;
}

/** Checks the server and a pooler in front of it. @throws `UnusableServerError`, or the error of the connection. */
export async function requireUsableDatabase({ sql, schema, connectionConfig }: Database): Promise<void> {
  const { DATABASE_URL: url, DATABASE_TRANSACTION_URL: transactionUrl } = connectionConfig;
  const [server] = await sql<[PostgresServerTraits & { role: string; searchPath: string }]>`
    select current_setting('server_version') as version, current_user as role,
      current_setting('search_path') as search_path,
      exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)) as has_lz4`;
  const problem = findPostgresServerProblem(server);
  if (problem) throw createError(url, problem);
  if (transactionUrl !== undefined && server.searchPath !== schema)
    throw createError(transactionUrl, {
      problem: `the search_path of the role ${server.role} is ${server.searchPath}, not ${schema}`,
      advice:
        "In transaction mode, each service needs a role of its own: run the migrate command with <SERVICE>_DATABASE_URL, then RECONNECT in the console of PgBouncer.",
    });
  if (transactionUrl === undefined && !(await keepsSessions(sql)))
    throw createError(url, {
      problem: "a pooler runs the statements of one connection in several sessions",
      advice:
        "Set pool_mode = session, or leave DATABASE_URL to PostgreSQL and set DATABASE_TRANSACTION_URL to the pooler.",
    });
}

/** Returns whether each connection keeps one session of its own, unlike those of a pooler in transaction mode. */
async function keepsSessions(sql: SqlClient): Promise<boolean> {
  const first = await sql.reserve();
  try {
    const second = await sql.reserve();
    try {
      const pids = new Map([first, second].map((connection) => [connection, new Set<number>()]));
      for (const connection of [first, second, second, first, first, second]) {
        const [row] = await connection<[{ pid: number }]>`select pg_backend_pid() as pid`;
        pids.get(connection)?.add(row.pid);
      }
      const [own = new Set(), others = new Set()] = pids.values();
      return own.size === 1 && others.size === 1 && new Set([...own, ...others]).size === 2;
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}
