import { type ReactNode, useState } from "react";
import { exampleApiUrl } from "../examples/exchange.ts";
import { useApiAccess } from "../try-it/use-api-access.ts";
import { SandboxSummary } from "./SandboxSummary.tsx";
import styles from "./sandbox.module.css";
import { createSandbox } from "./sandbox-requests.ts";
import { useSandbox } from "./use-sandbox.ts";

/**
 * Renders a button that creates a sandbox, and then the sandbox, whose API key all samples and forms of the site use from
 * then on in this browser tab. A reload shows the same sandbox.
 */
export function CreateSandbox(): ReactNode {
  const { server, key, setKey } = useApiAccess(exampleApiUrl);
  const [sandbox, setSandbox] = useSandbox();
  const [isCreating, setIsCreating] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function create() {
    setIsCreating(true);
    setProblem(undefined);
    try {
      const { apiKey, location, expiresAt } = await createSandbox(server);
      setKey(apiKey);
      // The answer is not stored whole, because only these fields are needed after a reload.
      const { name, currencyCode } = location;
      const createdAt = new Date().toISOString();
      setSandbox({ server, apiKey, location: { name, currencyCode }, createdAt, expiresAt });
    } catch (error) {
      setProblem((error as Error).message);
    }
    setIsCreating(false);
  }

  function removeDeleted() {
    if (key === sandbox?.apiKey) setKey("");
    setSandbox(undefined);
    setProblem("The sandbox of this tab no longer exists, or its key was revoked. You can create another.");
  }

  return (
    <section className={styles.card} aria-label="Sandbox">
      {sandbox ? (
        <SandboxSummary sandbox={sandbox} onDeleted={removeDeleted} />
      ) : (
        <>
          <p>
            A sandbox is a restaurant of your own, with 30 days of tills, a catalog and live orders that change. It
            needs no account, and is removed after two weeks.
          </p>
          <button type="button" className="button button--primary" onClick={create} disabled={isCreating}>
            {isCreating ? "Creating a sandbox…" : "Create a sandbox"}
          </button>
        </>
      )}
      {problem !== undefined && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </section>
  );
}
