import crypto, { randomBytes } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

const admin = postgres(process.env.DATABASE_URL ?? "", { max: 1 });
const role = `salted_${randomBytes(6).toString("hex")}`;

beforeAll(async () => {
  await admin.unsafe(`create role ${role} login password 'first'`);
});
afterAll(async () => {
  await admin.unsafe(`drop role ${role}`);
  await admin.end();
});

async function logIn(pass: string): Promise<string> {
  const sql = postgres(process.env.DATABASE_URL ?? "", { max: 1, user: role, pass });
  const [row] = await sql<[{ user: string }]>`select current_user as user`.finally(() => sql.end());
  return row.user;
}

it("connections of a user derive the key from the password once, until the server's salt changes", async () => {
  const derive = vi.spyOn(crypto, "pbkdf2Sync");
  const countDerivations = () => derive.mock.calls.filter(([password]) => password === "first").length;
  for (let connection = 0; connection < 3; connection += 1) expect(await logIn("first")).toBe(role);
  expect(countDerivations()).toBe(1);
  // The same password gets another salt.
  await admin.unsafe(`alter role ${role} password 'first'`);
  expect(await logIn("first")).toBe(role);
  expect(countDerivations()).toBe(2);
  await admin.unsafe(`alter role ${role} password 'second'`);
  expect(await logIn("second")).toBe(role);
  await expect(logIn("first")).rejects.toThrow("password authentication failed");
  derive.mockRestore();
});
