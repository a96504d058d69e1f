import type { ReactNode } from "react";

/** Renders a link to the OpenAPI document. The original cannot be used with the keyboard. */
export default function Export({ url }: { url: string }): ReactNode {
  return (
    <p>
      <a className="button button--secondary" href={url} download="pragma-openapi.json">
        Download the OpenAPI document
      </a>
    </p>
  );
}
