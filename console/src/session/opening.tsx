import { useEffect, useState } from "react";
import { text } from "../text/text.ts";

/** Shown while the key is checked. The text appears only if this takes long enough to be read. */
export function Opening() {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return (
    <main className="opening" aria-busy="true">
      {isLong && <p role="status">{text.signIn.checking}</p>}
    </main>
  );
}
