// `npm run fake`: the fake host on a fixed port, for `npm run dev` and for looking.
import { FakeHost } from "./host";

const port = await new FakeHost(process.argv.includes("--empty")).listen(Number(process.env.PORT ?? 7421));
process.stdout.write(`http://127.0.0.1:${port}/#token=sample-token-sample\n`);
