import type { ReactNode } from "react";
import styles from "./styles.module.css";

interface Props {
  /** The HTTP method in lower case, or `event` if the page describes a webhook message. */
  method: string;
  path: string;
}

/** Renders the method and the path of an operation, which the reference page shows below its title. */
export default function MethodEndpoint({ method, path }: Props): ReactNode {
  const isEvent = method === "event";
  return (
    <p className={styles.endpoint}>
      <span className={`method-badge method-badge--${method}`}>{isEvent ? "webhook" : method}</span>
      <code>{isEvent ? "POST to your endpoint" : path}</code>
    </p>
  );
}
