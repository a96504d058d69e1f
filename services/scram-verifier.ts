import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

const iterations = 4096;

/**
 * What PostgreSQL keeps of a password (SCRAM-SHA-256, RFC 5803): with it a role can be given a password that no statement
 * and no log of statements contains. For passwords of ASCII characters.
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const keyFor = (purpose: string) => createHmac("sha256", salted).update(purpose).digest();
  const storedKey = createHash("sha256").update(keyFor("Client Key")).digest("base64");
  const serverKey = keyFor("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
