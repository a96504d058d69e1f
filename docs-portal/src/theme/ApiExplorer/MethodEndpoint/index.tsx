import type { ReactNode } from "react";
import styles from "./styles.module.css";

interface Props {
  /** In lower case; `event` for a message that the API sends. */
  method: string;
  path: string;
}

/** The line under an operation's title that says how it is called. */
export default function MethodEndpoint({ method, path }: Props): ReactNode {
  const isEvent = method === "event";
  return (
    <p className={styles.endpoint}>
      <span className={`method-badge method-badge--${method}`}>{isEvent ? "webhook" : method}</span>
      <code>{isEvent ? "POST to your endpoint" : path}</code>
    </p>
  );
}
