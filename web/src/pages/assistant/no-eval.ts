// The chat library validates with zod, which tries once whether it may compile
// code from text. Our policy forbids that, and the browser would report it.
import { config } from "zod/v4/core";

config({ jitless: true });
