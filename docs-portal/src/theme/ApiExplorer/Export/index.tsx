import type { ReactNode } from "react";

interface Props {
  url: string;
  format?: "OpenAPI" | "AsyncAPI";
}

/** Renders a link to the OpenAPI or AsyncAPI document. The original cannot be used with the keyboard. */
export default function Export({ url, format = "OpenAPI" }: Props): ReactNode {
  return (
    <p>
      <a className="button button--secondary" href={url} download={`pragma-${format.toLowerCase()}.json`}>
        Download the {format} document
      </a>
    </p>
  );
}
