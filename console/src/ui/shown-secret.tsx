import { CopyButton } from "./copy-button.tsx";

interface ShownSecretProps {
  secret: string;
  /** What the reader must know: that the secret is shown only here. */
  hint: string;
  copyLabel: string;
}

/** A secret that the API returned once. */
export const ShownSecret = ({ secret, hint, copyLabel }: ShownSecretProps) => (
  <div className="notice notice-warning">
    <p>{hint}</p>
    <p>
      <code className="secret">{secret}</code>
    </p>
    <CopyButton variant="secondary" value={secret} label={copyLabel} />
  </div>
);
