import { type ApiSchemaTypes, NoResponse } from "@pragma/client";
import { createAdminApiClient } from "@pragma/client/api-client";
import { useState } from "react";
import type { Installation } from "../installation.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { storeKey } from "./session.ts";

/** Creates a sandbox for a reader without a key, shows its key once, and then opens its view with it. */
export function CreateSandbox({ installation }: { installation: Installation }) {
  const [created, setCreated] = useState<ApiSchemaTypes["CreatedSandbox"] | null>(null);
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function run(step: () => Promise<void>) {
    setError(null);
    setIsPending(true);
    await step().catch(setError);
    setIsPending(false);
  }
  const create = () =>
    run(async () => {
      // The operation needs no key.
      const api = createAdminApiClient({ baseUrl: installation.apiUrl, apiKey: "", retries: 1 });
      setCreated((await api.POST("/v1/sandboxes")).data);
    });
  const open = (apiKey: string) => {
    storeKey(apiKey);
    location.assign("/sandbox");
  };

  return (
    <section className="sign-in-card" aria-labelledby="create-sandbox">
      <h2 id="create-sandbox">{text.sandbox.create.title}</h2>
      {created ? (
        <>
          <p role="status">
            {text.sandbox.create.created(
              created.location.name,
              new Date(created.expiresAt).toLocaleDateString(undefined, { dateStyle: "long" }),
            )}
          </p>
          <div className="notice notice-warning">
            <p>{text.sandbox.create.keyOnce}</p>
            <p>
              <code className="secret">{created.apiKey}</code>
            </p>
            <CopyButton variant="secondary" value={created.apiKey} label={text.sandbox.create.copyKey} />
          </div>
          <Button variant="primary" onPress={() => open(created.apiKey)}>
            {text.sandbox.create.open}
          </Button>
        </>
      ) : (
        <>
          <p className="hint">{text.sandbox.create.hint}</p>
          <Button isPending={isPending} onPress={() => void create()}>
            {isPending ? text.sandbox.create.creating : text.sandbox.create.submit}
          </Button>
        </>
      )}
      {error !== null && <ErrorNotice error={error} />}
      {error instanceof NoResponse && <p className="hint">{text.sandbox.create.unreachable(installation.apiUrl)}</p>}
    </section>
  );
}
