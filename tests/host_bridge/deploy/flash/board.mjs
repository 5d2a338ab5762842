// A board with nothing but a raw REPL and a file system: MicroPython under Node, its bytes on
// standard input and output.
//
//     node board.mjs PACKAGE FOLDER
//
// Starts with the files of FOLDER. Whenever it is reset, or its input ends, FOLDER holds what its
// file system then holds, and it exits (42: reset).

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, root] = process.argv;
const { loadMicroPython } = await import(pathToFileURL(path.join(folder, "micropython.mjs")));
const RESET = 42;
const RAW_PASTE = 5; // Ctrl-E; this port takes it, and then reads the rest from nowhere
// the chip's id: of whatever car a test starts at this port after the reset, in hexadecimal
const CHIP_ID = process.env.CHIP_ID ?? Buffer.from("12345678").toString("hex");
const MACHINE = `
import js_board
def reset():
    js_board.reset()
def unique_id():
    return bytes.fromhex("${CHIP_ID}")
`;

const mp = await loadMicroPython({
  stdout: (bytes) => fs.writeSync(1, bytes),
  linebuffer: false,
  heapsize: 1 << 23,
});
const own = new Set(["tmp", "home", "dev", "proc", "lib"]); // the runtime's, not the board's

function load(from, to) {
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) {
      mp.FS.mkdir(target);
      load(source, target);
    } else mp.FS.writeFile(target, fs.readFileSync(source));
  }
}

function keep(from, to) {
  fs.mkdirSync(to, { recursive: true });
  for (const name of mp.FS.readdir(from || "/")) {
    if (name === "." || name === ".." || (from === "" && own.has(name))) continue;
    const [source, target] = [`${from}/${name}`, path.join(to, name)];
    if (mp.FS.isDir(mp.FS.stat(source).mode)) keep(source, target);
    else fs.writeFileSync(target, mp.FS.readFile(source));
  }
}

function end(code) {
  fs.rmSync(root, { recursive: true, force: true });
  keep("", root);
  process.exit(code);
}

function start() {
  // A board runs its owner's boot.py before anything else, and its names stay
  if (mp.FS.analyzePath("/boot.py").exists) mp.runPython(mp.FS.readFile("/boot.py", { encoding: "utf8" }));
  mp.replInit();
}

load(root, "");
if (!mp.FS.analyzePath("/lib").exists) mp.FS.mkdir("/lib");
mp.FS.writeFile("/lib/machine.py", MACHINE);
mp.registerJsModule("js_board", { reset: () => end(RESET) });
mp.runPython("import sys\nsys.path[:] = ['', '/lib']\nimport os\nos.chdir('/')");
start();

const byte = Buffer.alloc(1);
function next() {
  try {
    return fs.readSync(0, byte, 0, 1) ? byte[0] : end(0);
  } catch {
    return end(0);
  }
}
for (;;) {
  const char = next();
  if (char === RAW_PASTE) {
    next(), next();
    fs.writeSync(1, "R\0"); // understood, not there: the host sends plainly
  } else if (mp.replProcessChar(char)) {
    fs.writeSync(1, "MPY: soft reboot\r\n"); // Ctrl-D: the port leaves this to whoever hosts it
    start();
  }
}
