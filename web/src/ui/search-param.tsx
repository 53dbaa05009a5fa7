import { useState } from "react";
import { useSearchParams } from "react-router";
import { SearchInput } from "./field";

/**
 * A search field whose text lives in the address. Addresses change a moment
 * after a key press, so the field keeps what is typed and hands it on.
 */
export function SearchParam({ name = "q", label, className }: { name?: string; label: string; className?: string }) {
  const [params, setParams] = useSearchParams();
  const stored = params.get(name) ?? "";
  const [typed, setTyped] = useState(stored);
  const [handedOn, setHandedOn] = useState(stored);
  // The address changed by something else: a link, "back", or a clear button.
  if (stored !== handedOn && typed === handedOn) {
    setTyped(stored);
    setHandedOn(stored);
  } else if (stored === typed && handedOn !== typed) setHandedOn(typed);
  return (
    <SearchInput
      label={label}
      {...(className ? { className } : {})}
      value={typed}
      onChange={(event) => {
        const text = event.target.value;
        setTyped(text);
        setParams(
          (current) => {
            const next = new URLSearchParams(current);
            if (text === "") next.delete(name);
            else next.set(name, text);
            return next;
          },
          { replace: true, preventScrollReset: true },
        );
      }}
    />
  );
}
