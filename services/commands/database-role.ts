import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { ServerTlsConfig } from "@pragma/runtime/config/server-tls";
import {
  buildServiceSessionSettings,
  createDatabasePool,
  type Database,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";

/**
 * Creates the role in a service's URL if necessary, with its password and the defaults of its sessions, and grants it the
 * privileges that the service needs. Creating roles and changing passwords require CREATEROLE.
 */
export async function ensureRoleWithSchemaPrivileges(
  db: Database,
  { url, tls, log }: { url: string; tls: ServerTlsConfig; log: Logger },
) {
  const role = decodeURIComponent(new URL(url).username);
  if (role === "") throw new Error(`The URL for schema ${db.schema} does not contain a role.`);
  await db.transaction(async (tx) => {
    // The lock keeps concurrent runs in this database from creating or changing the same role at the same time, because
    // PostgreSQL would reject the second change.
    await tx`select pg_advisory_xact_lock(hashtext('pragma roles'))`;
    const [existingRole] = await tx<{ isCurrent: boolean }[]>`
      select rolname = current_user as "isCurrent" from pg_roles where rolname = ${role}`;
    // Does nothing for the role of this connection, because it owns the schema and already has all privileges.
    if (existingRole?.isCurrent) return;
    if (!existingRole) {
      await setPassword(tx, "create role %I login nosuperuser nocreatedb nocreaterole password %L", role, url);
      log.info({ role }, "role created");
    } else if (!(await canLogIn(url, tls, log))) {
      await setPassword(tx, "alter role %I password %L", role, url);
      log.info({ role }, "role password changed");
    }
    await grantPrivileges(tx, db.schema, role);
    await tx
      .savepoint((savepoint) => setSessionDefaults(savepoint, db.schema, role))
      .catch((error) => {
        if (error.code !== insufficientPrivilege) throw error;
        log.warn(
          { role },
          "the defaults of the role's sessions cannot be set; only a pooler in transaction mode needs them",
        );
      });
  });
}

const insufficientPrivilege = "42501";

async function setSessionDefaults(tx: SqlTransaction, schema: string, role: string): Promise<void> {
  for (const [name, value] of Object.entries(buildServiceSessionSettings(schema))) {
    const [row] = await tx<{ text: string }[]>`
      select format('alter role %I in database %I set %I = %L',
        ${role}::text, current_database(), ${name}::text, ${String(value)}::text) as text`;
    if (row) await tx.unsafe(row.text);
  }
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
    // Of PostgreSQL or PgBouncer.
    if (error instanceof Error && /authentication failed/.test(error.message)) return false;
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
  // Only the role that runs migrations may write to this table.
  await tx`revoke insert, update, delete on migrations from ${to}`;
  // The audit log is append-only. A function of its owner deletes expired entries.
  const [auditLog] = await tx`select to_regclass('audit_events') is not null as exists`;
  if (auditLog?.exists) await tx`revoke update, delete on audit_events from ${to}`;
}

const scramIterations = 4096;

/** Returns a SCRAM-SHA-256 verifier (RFC 5803), so that no log contains the password, which must be ASCII. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, scramIterations, 32, "sha256");
  const deriveKey = (label: string) => createHmac("sha256", salted).update(label).digest();
  const storedKey = createHash("sha256").update(deriveKey("Client Key")).digest("base64");
  const serverKey = deriveKey("Server Key").toString("base64");
  return `SCRAM-SHA-256$${scramIterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
