import { Fragment, type ReactNode } from "react";
import styles from "./styles.module.css";

interface Props {
  /** The HTTP method in lower case, or `event` if the page describes a webhook message. */
  method: string;
  path: string;
}

/** Renders the method and the path of an operation, or the name of an event. */
export default function MethodEndpoint({ method, path }: Props): ReactNode {
  return (
    <p className={styles.endpoint}>
      <span className={`method-badge method-badge--${method}`}>{method}</span>
      <code>
        {path.split(/(?<=[/.])/).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a path never change
          <Fragment key={index}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </code>
    </p>
  );
}
