import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { ServerTlsConfig } from "@pragma/runtime/config/server-tls";
import { createDatabasePool, type Database, type SqlTransaction } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";

interface DatabaseRoleOptions {
  /** What the service will log in with: `postgres://role:password@host/database`. */
  url: string;
  tls: ServerTlsConfig;
  log: Logger;
}

/**
 * Lets the role of a service's URL use a schema as the service does: read and write rows, and nothing else. A role that
 * is not there is made, and one that has another password is given the URL's, which whoever runs this must be allowed to
 * (CREATEROLE); roles that are there already are used as they are.
 */
export async function grantSchemaToRole(db: Database, { url, tls, log }: DatabaseRoleOptions): Promise<void> {
  const role = decodeURIComponent(new URL(url).username);
  if (role === "") throw new Error(`The URL for schema ${db.schema} names no role.`);
  await db.transaction(async (tx) => {
    // Several may do this at once, for their own schemas; PostgreSQL's catalogue of roles is one.
    await tx`select pg_advisory_xact_lock(hashtext('pragma roles'))`;
    const [existingRole] = await tx<{ own: boolean }[]>`
      select rolname = current_user as own from pg_roles where rolname = ${role}`;
    // Whoever made the schema may everything with it as it is.
    if (existingRole?.own) return;
    if (!existingRole) {
      await setPassword(tx, "create role %I login nosuperuser nocreatedb nocreaterole password %L", role, url);
      log.info({ role }, "role made");
    } else if (!(await canLogIn(url, tls, log))) {
      await setPassword(tx, "alter role %I password %L", role, url);
      log.info({ role }, "role has another password");
    }
    await grantPrivileges(tx, db.schema, role);
  });
}

async function setPassword(tx: SqlTransaction, statement: string, role: string, url: string): Promise<void> {
  const verifier = scramVerifier(decodeURIComponent(new URL(url).password));
  const [row] = await tx<{ text: string }[]>`select format(${statement}, ${role}::text, ${verifier}::text) as text`;
  if (row) await tx.unsafe(row.text);
}

async function canLogIn(url: string, tls: ServerTlsConfig, log: Logger): Promise<boolean> {
  const db = createDatabasePool({ ...tls, DATABASE_URL: url, DATABASE_POOL: 2 }, { schema: "public", log });
  try {
    await db.sql`select 1`;
    return true;
  } catch (error) {
    const invalidPassword = "28P01";
    if (error instanceof Error && "code" in error && error.code === invalidPassword) return false;
    throw error;
  } finally {
    await db.close();
  }
}

async function grantPrivileges(tx: SqlTransaction, schema: string, role: string): Promise<void> {
  const [of, to] = [tx(schema), tx(role)];
  await tx`revoke all on schema ${of} from public`;
  await tx`grant usage on schema ${of} to ${to}`;
  await tx`grant select, insert, update, delete on all tables in schema ${of} to ${to}`;
  await tx`grant usage, select on all sequences in schema ${of} to ${to}`;
  await tx`grant execute on all functions in schema ${of} to ${to}`;
  // What has run is the business of whoever migrates.
  await tx`revoke insert, update, delete on migrations from ${to}`;
}

const scramIterations = 4096;

/**
 * What PostgreSQL keeps of a password (SCRAM-SHA-256, RFC 5803): with it a role can be given a password that no statement
 * and no log of statements contains. For passwords of ASCII characters.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, scramIterations, 32, "sha256");
  const keyFor = (purpose: string) => createHmac("sha256", salted).update(purpose).digest();
  const storedKey = createHash("sha256").update(keyFor("Client Key")).digest("base64");
  const serverKey = keyFor("Server Key").toString("base64");
  return `SCRAM-SHA-256$${scramIterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
