import type { ErrorCode } from "@pragma/contracts/errors";
import type { Scope } from "@pragma/contracts/scopes";
import { createApiKey } from "@pragma/runtime/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, askOperation } from "./contract/ask-operation.ts";
import { type Ask, ordinaryAsking } from "./contract/contract.ts";
import { expectDocumented } from "./contract/expect-documented.ts";
import { type Operation, type Outcome, operations } from "./contract/operations.ts";
import { contractTable } from "./contract/table.ts";
import { openWorld, shopScopes, type World } from "./contract/world.ts";
import type { ReachableProduct } from "./harness/product.ts";
import { sharedProduct } from "./harness/shared-product.ts";

let product: ReachableProduct;
let world: World;
let revokedKey: string;
/** Keys of the shop that may do everything but what needs one scope, by that scope. */
const lacking = new Map<Scope, string>();

const closed = operations.flatMap(({ scope, ...operation }) => (scope ? [{ ...operation, scope }] : []));
const open = operations.filter(({ scope }) => scope === undefined);

beforeAll(async () => {
  product = await sharedProduct();
  world = await openWorld(product);
  for (const scope of new Set(closed.map((operation) => operation.scope))) {
    lacking.set(scope, await world.keyWith([...shopScopes.filter((each) => each !== scope), "locations:any"]));
  }
  revokedKey = await makeRevokedKey();
}, 120_000);

async function makeRevokedKey(): Promise<string> {
  const key = await world.keyWith(shopScopes);
  const { data } = await world.shop.read<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
  expect((await world.shop.ask("DELETE", `/v1/auth/keys/${data[0]?.id}`)).status).toBe(204);
  await eventually(
    "the key to be refused",
    async () => (await world.shop.ask("GET", "/v2/reports", { key })).status === 401,
  );
  return key;
}

/** Sends an operation's ordinary request with this key in the place of the one that it would have. */
async function askWith(operation: Operation, key: string | null): Promise<Answer> {
  const ordinary = await ordinaryAsking(operation, contractTable[operation.id])(world);
  return askOperation(product.url, operation, { ...ordinary, key });
}

/** Ordinary requests that were refused, and so can be sent again, by the operation's id. */
const unspent = new Map<string, Ask>();

/** Sends an operation's ordinary request with a key for which it is refused. */
async function askInVain(operation: Operation, key: string | null): Promise<Answer> {
  const ordinary = unspent.get(operation.id) ?? (await ordinaryAsking(operation, contractTable[operation.id])(world));
  unspent.set(operation.id, ordinary);
  return askOperation(product.url, operation, { ...ordinary, key });
}

/** Expects whatever was answered to be documented, and gives its status. */
function documentedStatus(operation: Operation, answer: Answer): number {
  const isError = answer.status >= 400;
  const outcome: Outcome = isError ? (JSON.parse(answer.text).code as ErrorCode) : (`${answer.status}` as Outcome);
  expectDocumented(operation, answer, outcome);
  return answer.status;
}

describe.each(closed)("$id", (operation) => {
  it("refuses who has no key", async () => {
    expectDocumented(operation, await askInVain(operation, null), "key_missing");
  });

  it.each([
    ["was never made", () => createApiKey().key],
    ["has not the form of one", () => "pragma_mistyped"],
  ])("refuses a key that %s", async (_, keyOf) => {
    expectDocumented(operation, await askInVain(operation, keyOf()), "key_invalid");
  });

  it("refuses a key that was revoked", async () => {
    expectDocumented(operation, await askInVain(operation, revokedKey), "key_revoked");
  });

  it("refuses a key without the scope that it is documented to need", async () => {
    expectDocumented(operation, await askInVain(operation, lacking.get(operation.scope) ?? ""), "scope_missing");
  });

  it("does for the key of another location what its contract says", async () => {
    const status = documentedStatus(operation, await askWith(operation, world.other.key));
    expect(status).toBe(contractTable[operation.id]?.stranger);
  });

  it("is not denied to an admin", async () => {
    const status = documentedStatus(operation, await askWith(operation, product.adminKey));
    expect(status).not.toBe(401);
    expect(status).not.toBe(403);
  });
});

describe.each(open)("$id", (operation) => {
  it("is for everybody, whatever they present as their key", async () => {
    for (const key of [null, "pragma_mistyped", revokedKey, world.shop.key]) {
      expectDocumented(operation, await askWith(operation, key), "200");
    }
  });
});
