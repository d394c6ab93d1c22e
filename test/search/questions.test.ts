import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchRequestOf } from '../../src/domain/search.ts';
import { EmbedProcess } from '../../src/search/indexing/embed-index.ts';
import { readPage } from '../../src/search/indexing/read-page.ts';
import { KeywordIndexWriter } from '../../src/search/keyword/index-writer.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { ReleaseSearch, type SemanticParts } from '../../src/search/query/release-search.ts';
import { EmbeddingModel } from '../../src/search/semantic/model.ts';
import { type CosineScale, measureScale, VectorIndex } from '../../src/search/semantic/vector-index.ts';
import { VectorTable } from '../../src/search/semantic/vector-table.ts';
import { smallSites } from '../corpus/questions.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');

/** Title, bar and body of each page, by path. */
type Pages = Readonly<Record<string, string>>;
/**
 * A query and the address of the first result. Without a fragment, any section of the page counts. Null: no result. `!`: not
 * found.
 */
type Question = readonly [query: string, first: string | null];

interface Site {
  readonly name: string;
  readonly pages: Pages;
  readonly questions: readonly Question[];
}

const SITES: readonly Site[] = [
  {
    name: 'pasted commands, and words together or apart',
    pages: {
      commit: 'Record changes|<p>Run <code>git commit -m MESSAGE</code> to record the staged files.</p>',
      message: 'Messages|<p>Fix each typo in a message before you publish it.</p>',
      peer: 'Access rules|<p>If the log shows <code>password authentication failed for user</code>, check the rules of access.</p>',
      release:
        'Releases|<h2 id="back">Roll back a release</h2><p>To roll back, choose the former release.</p><h2 id="hot">Hotfix</h2><p>A hotfix skips the queue of the nightly build.</p>',
      zone: 'Clock|<p>Each time zone has an offset from UTC.</p>',
      idle: 'Idle sessions|<p>A session has a time out of ten minutes.</p>',
      notes: 'Notes|<p>Note that each book has its own shelf.</p>',
      colors:
        'Colors|<p>A page prints in print mode without its colors.</p><p>More details and more settings: see the printer.</p>',
      more: 'Details|<p>More details. More pages. More links, and more again, for more people.</p>',
      reach: 'Network|<p>The client cannot reach the server behind the proxy.</p>',
    },
    questions: [
      ['git commit -m "fix typo"', '/commit.html'],
      ['git commit -m \u201cinitial import\u201d', '/commit.html'],
      ['password authentication failed for user "bob"', '/peer.html'],
      ['rollback', '/release.html#back'],
      ['hot fix', '/release.html#hot'],
      ['timezone', '/zone.html'],
      ['timeout', '/idle.html'],
      ['notebook', null],
      ['print mode', '/colors.html'],
      ["client can't reach server", '/reach.html'],
    ],
  },
  {
    name: 'names in other notations',
    pages: {
      paging:
        'Paging|<h2 id="size"><code>pageSize</code></h2><p>Number of items.</p><h2 id="token"><code>nextPageToken</code></h2><p>Start of the next page.</p>',
      server:
        'Settings|<h2 id="port"><code>server.port</code></h2><p>Port of the listener.</p><h2 id="log"><code>logging.level.root</code></h2><p>Level of all messages.</p><h2 id="pool"><code>spring.datasource.hikari.maximum-pool-size</code></h2><p>Connections at most.</p>',
      ports: 'Ports|<p>Open the port of the server: each server has one port, and the port is free.</p>',
      range:
        'Ranges|<h2 id="caret">Caret</h2><p><code>^1.2.0</code> allows minor releases.</p><h2 id="tilde">Tilde</h2><p><code>~1.2.0</code> allows patches.</p><h2 id="least">At least</h2><p><code>&gt;=1.2.0</code> has no upper end.</p>',
      smart:
        'Smart pointers|<h2 id="arrow"><code>operator-&gt;()</code></h2><p>Calls a member.</p><h2 id="star"><code>operator*()</code></h2><p>Returns the object.</p><h2 id="index"><code>operator[]()</code></h2><p>Returns an element.</p>',
      types:
        'Collections|<h2 id="list"><code>List&lt;T&gt;</code></h2><p>Grows as needed.</p><h2 id="map"><code>std::map&lt;K, V&gt;</code></h2><p>Sorted by key.</p>',
      ints: 'Numbers|<p>Each int in a list is an int. The list of all int types, a map of the types, and a string.</p>',
      operators:
        'Operators|<p>An operator takes operands. Each operator has a rank, and an operator has an operator name.</p>',
      lambda:
        'Lambdas|<p>Captures:</p><table><tr><td><code>[&amp;]</code></td><td>all by reference</td></tr><tr><td><code>[=]</code></td><td>all by value</td></tr></table>',
      codes: 'Exit codes|<p>The exit code of a job. Code 1: error. Code 2: usage. Code 126: not executable.</p>',
      memory: 'Out of memory|<p>The kernel ended the process. The exit code is 137.</p>',
    },
    questions: [
      ['page_size', '/paging.html#size'],
      ['next_page_token', '/paging.html#token'],
      ['server_port', '/server.html#port'],
      ['SERVER_PORT', '/server.html#port'],
      ['loggingLevelRoot', '/server.html#log'],
      ['maximumPoolSize', '/server.html#pool'],
      ['maximum-pool-size', '/server.html#pool'],
      ['^1.2.0', '/range.html#caret'],
      ['~1.2.0', '/range.html#tilde'],
      ['>=1.2.0', '/range.html#least'],
      ['operator->', '/smart.html#arrow'],
      ['operator*', '/smart.html#star'],
      ['operator[]', '/smart.html#index'],
      ['[&]', '/lambda.html'],
      ['List<int>', '/types.html#list'],
      ['map<string, int>', '/types.html#map'],
      ['exit code 137', '/memory.html'],
    ],
  },
  {
    name: 'options that the site writes without a dash, and settings with a value',
    pages: {
      codec:
        'Codec options|<dl><dt id="crf"><code>crf</code></dt><dd>Sets the quality, from 0 to 51.</dd><dt id="preset"><code>preset</code></dt><dd>Speed of the encoder.</dd></dl>',
      convert: 'Convert a file|<p>Run ffmpeg with an input, and choose the quality of the output file.</p>',
      build: 'Build types|<h2 id="type"><code>CMAKE_BUILD_TYPE</code></h2><p>One of Debug and Release.</p>',
      list: 'Lists|<p>In a list, each line is <code>name = value</code>, as in <code>a = b</code>.</p>',
      profile: 'Profiles|<h2 id="lto"><code>lto</code></h2><p>Optimizes at link time.</p>',
      broker:
        'Broker|<h2 id="create"><code>auto.create.topics.enable</code></h2><p>Creates a topic at its first use.</p><h2 id="bytes"><code>message.max.bytes</code></h2><p>Kafka rejects larger messages.</p>',
      range:
        'Ranges|<h2 id="closed">Closed range</h2><p><code>a...b</code> includes b.</p><h2 id="open">Half-open range</h2><p><code>a..&lt;b</code> excludes b.</p>',
      tool: 'Clone|<p>Clone with a toml file of settings.</p>',
    },
    questions: [
      ['-crf', '/codec.html#crf'],
      ['-crf 23', '/codec.html#crf'],
      ['ffmpeg -i clip.mov -preset slow', '/codec.html#preset'],
      ['-DCMAKE_BUILD_TYPE=Release', '/build.html#type'],
      ['cmake -DCMAKE_BUILD_TYPE=Release', '/build.html#type'],
      ['lto = true', '/profile.html#lto'],
      ['KAFKA_AUTO_CREATE_TOPICS_ENABLE', '/broker.html#create'],
      ['a...b', '/range.html#closed'],
      ['a..<b', '/range.html#open'],
      ['encoder -quality', '/codec.html#preset'],
    ],
  },
  {
    name: 'sections that only list others',
    pages: {
      '': 'Handbook|<ul><li><a href="/backup.html">Backup of the database</a></li><li><a href="/access.html">Access rights</a></li></ul>',
      backup:
        'Backup|<h2 id="parts">Parts of a backup</h2><h3 id="database">Database backup</h3><p>The tool dumps all tables each night.</p><h3 id="files">File backup</h3><p>Copies the uploads.</p>',
      access: 'Access|<h2 id="rights">Access rights of a role</h2><p>A role has rights.</p>',
    },
    questions: [
      ['dump all tables of the database backup', '/backup.html#database'],
      ['backup of the database tables', '/backup.html#database'],
      ['which access rights', '/access.html#rights'],
    ],
  },
  {
    name: 'options of commands',
    pages: {
      jvm: 'JVM options|<h2 id="xmx"><code>-Xmx</code></h2><p>Sets the largest heap.</p><h2 id="par"><code>-XX:ParallelGCThreads</code></h2><p>Number of collector threads.</p><h2 id="jar"><code>-jar</code></h2><p>Runs an archive: <code>java -jar app.jar</code>.</p>',
      java: 'About Java|<p>The java program and where it is.</p>',
      tf: 'Terraform|<pre><code>terraform -chdir=infra apply</code></pre><p>In another folder.</p>',
      find: 'Find files|<pre><code>find . -name "*.md" -type f</code></pre><p>Lists the files that match.</p>',
      name: 'Names|<p>Find a good name for each thing. A name is short.</p>',
      ps: 'Delete in PowerShell|<p>Run <code>Remove-Item -Recurse -Force build</code> to delete a folder with its content.</p>',
      item: 'Items|<p>Remove an item from the list with the item menu. An item can be removed.</p>',
      tar: 'Archives|<p><code>tar --exclude=node_modules -czf site.tgz .</code> packs a folder.</p>',
      exclude: 'Exclude pages|<p>Exclude a page from the site: the tar of the roof is excluded.</p>',
      rm: 'Delete for good|<p>The command <code>rm -rf build</code> deletes without a question.</p>',
      gcc: 'Compile|<p>Pass <code>-O2 -Wall -fno-exceptions</code> to the compiler, and -j8 to make.</p>',
      docker: 'Containers|<p>Type <code>docker run -p 8080:80 –rm nginx</code> to try it.</p>',
      git: 'Commits|<pre><code>git commit --amend --no-edit</code></pre><p>Changes the last commit.</p>',
      car: 'Jaguar motor|<p>The jaguar is a motorcar.</p>',
      cat: 'Jaguar|<p>The jaguar is a cat.</p>',
    },
    questions: [
      ['-Xmx', '/jvm.html#xmx'],
      ['jvm -Xmx', '/jvm.html#xmx'],
      ['java -Xmx512m', '/jvm.html#xmx'],
      ['java -jar', '/jvm.html#jar'],
      ['-XX:ParallelGCThreads', '/jvm.html#par'],
      ['terraform -chdir', '/tf.html'],
      ['find . -name', '/find.html'],
      ['find . -name "*.md"', '/find.html'],
      ['Remove-Item -Recurse', '/ps.html'],
      ['remove-item -force', '/ps.html'],
      ['tar --exclude', '/tar.html'],
      ['rm -rf', '/rm.html'],
      ['-Wall', '/gcc.html'],
      ['compiler -fno-exceptions', '/gcc.html'],
      ['make -j', '/gcc.html'],
      ['docker run --rm', '/docker.html'],
      ['git commit --amend', '/git.html'],
      ['git -amend', '/git.html'],
      ['jaguar -motorcar', '!/car.html'],
      ['jaguar -"a motorcar"', '!/car.html'],
    ],
  },
  {
    name: 'versions',
    pages: {
      'v1.2.3': 'v1.2.3|<p>Changes in this release: faster start.</p>',
      'v1.2.30': 'v1.2.30|<p>Changes in this release: faster stop.</p>',
      k12: 'Kubernetes 1.2|<p>What is new in Kubernetes 1.2 and 3.</p>',
      rc: 'Release candidate|<p>1.2.3-rc.1 is a test version: 1, 2, 3 and rc.</p>',
      file: 'Downloads|<p>Unpack tool-4.5.6.tar.gz and read it. Version 4 or 5 also works.</p>',
      numbers: 'Numbers|<p>Version 1, version 2 and version 3. The versions 4, 5 and 6.</p>',
      py: 'Python 3.11|<p>The interpreter is faster in Python 3.11.</p>',
      py1: 'Python 3.1|<p>An old interpreter: Python 3.1 had eleven parts.</p>',
    },
    questions: [
      ['1.2.3', '/v1.2.3.html'],
      ['1.2.30', '/v1.2.30.html'],
      ['v1.2.3', '/v1.2.3.html'],
      ['what changed in 1.2.3', '/v1.2.3.html'],
      ['release v1.2.30', '/v1.2.30.html'],
      ['1.2.3-rc.1', '/rc.html'],
      ['4.5.6', '/file.html'],
      ['tool-4.5.6', '/file.html'],
      ['python 3.11', '/py.html'],
      ['python 3.1', '/py1.html'],
    ],
  },
  {
    name: 'addresses',
    pages: {
      loop: 'Loopback|<p>The daemon listens on ::1 and on 127.0.0.1 only.</p>',
      one: 'One|<p>Part 1 of 1: one. The 127 and the 0 are numbers, 1.</p>',
      net: 'Networks|<p>Allow 10.0.0.0/8 and fd00::/8, but not 192.168.0.0/16.</p>',
      ten: 'Ten|<p>10 of 8. The numbers 0, 8 and 10: 10, 0, 0, 0 and 8. The file 10.0.0.0/16.</p>',
      mac: 'Adapters|<p>The adapter 00:1a:2b:3c:4d:5e belongs to the printer.</p>',
      mac2: 'Adapters of others|<p>The adapter 00:1a:2b:3c:4d:5f belongs to the phone, 5e.</p>',
      v6: 'Tunnel|<p>The tunnel ends at 2001:db8::1.</p>',
      v62: 'Tunnel of others|<p>The tunnel ends at 2001:db8::2, part 1.</p>',
      port: 'Ports|<p>Open http://localhost:8080/healthz in a browser.</p>',
      host: 'Hosts|<p>The local host, localhost, has the port 80.</p>',
      path: 'Files|<p>Edit /etc/nginx/nginx.conf with care.</p>',
      conf: 'Configuration of nginx|<p>The nginx conf is in etc. An nginx.conf has blocks.</p>',
    },
    questions: [
      ['::1', '/loop.html'],
      ['127.0.0.1', '/loop.html'],
      ['10.0.0.0/8', '/net.html'],
      ['fd00::/8', '/net.html'],
      ['00:1a:2b:3c:4d:5e', '/mac.html'],
      ['2001:db8::1', '/v6.html'],
      ['localhost:8080', '/port.html'],
      ['/etc/nginx/nginx.conf', '/path.html'],
    ],
  },
  {
    name: 'letters and digits',
    pages: {
      proto: 'Protocols|<p>HTTP/2 is on, and Python 3, OAuth 2.0 and RFC 9110 are supported.</p>',
      limit: 'Limits|<p>At most 16GiB, and 1,000,000 rows.</p>',
      other: 'Others|<p>RFC 1234 is old. The port 9110 is free. HTTP has 2 parts, and python has 3 snakes.</p>',
      hyphen: 'Standards|<p>See rfc-6455 for sockets and UTF-8 for text.</p>',
      error: 'Errors|<p>E1042 means that the disk is full. E1043 means that it is slow.</p>',
      big: 'Counts|<p>A list has up to 2500000 rows, or 1_500_000 in the small edition.</p>',
      es: 'Language level|<p>The code is compiled to ES2015 on x86_64.</p>',
    },
    questions: [
      ['HTTP2', '/proto.html'],
      ['HTTP/2', '/proto.html'],
      ['http 2', '/proto.html'],
      ['Python3', '/proto.html'],
      ['OAuth2', '/proto.html'],
      ['OAuth 2', '/proto.html'],
      ['RFC9110', '/proto.html'],
      ['rfc-9110', '/proto.html'],
      ['RFC 9110', '/proto.html'],
      ['RFC6455', '/hyphen.html'],
      ['RFC 6455', '/hyphen.html'],
      ['utf8', '/hyphen.html'],
      ['16 GiB', '/limit.html'],
      ['16GiB', '/limit.html'],
      ['1000000', '/limit.html'],
      ['2,500,000', '/big.html'],
      ['1500000', '/big.html'],
      ['E1042', '/error.html'],
      ['what does E1043 mean', '/error.html'],
      ['E1044', null],
      ['es 2015', '/es.html'],
      ['x86_64', '/es.html'],
    ],
  },
  {
    name: 'quantities',
    pages: {
      wait: 'Waiting|<p>The proxy waits 1.5s for a response, then 500ms more.</p>',
      five: 'Parts|<p>The 1st of 5s: part 1, part 5, 15 s and 500 parts. 1.5 is a number.</p>',
      ms: 'Pauses|<p>A pause of 250 ms, and never more than 2.5 s or 90 s.</p>',
      mem: 'Memory|<p>Give it 10GiB of memory, or 512Mi in a container.</p>',
      disk: 'Disks|<p>Needs 20 GiB, 1.5 TB or 2.5TB of disk; a page has 8 kB.</p>',
      ten: 'Ten|<p>10 of the GiB are free, 20 of them are used, 512 others.</p>',
      keys: 'Keys|<p>Keys expire after 90d, tokens after 24h, cookies after 5m.</p>',
      groups: 'Groups|<p>90 parts in 24 of the d and h groups, 5 of the m group, s.</p>',
    },
    questions: [
      ['1.5s', '/wait.html'],
      ['1.5 s', '/wait.html'],
      ['timeout of 1.5s', '/wait.html'],
      ['500 ms', '/wait.html'],
      ['250ms', '/ms.html'],
      ['2.5s', '/ms.html'],
      ['2.5 s', '/ms.html'],
      ['90s', '/ms.html'],
      ['10GiB', '/mem.html'],
      ['10 gib', '/mem.html'],
      ['512 Mi', '/mem.html'],
      ['20GiB', '/disk.html'],
      ['1.5TB', '/disk.html'],
      ['2.5 TB', '/disk.html'],
      ['8kB', '/disk.html'],
      ['90 d', '/keys.html'],
      ['24h', '/keys.html'],
      ['5 m', '/keys.html'],
    ],
  },
  {
    name: 'settings with a value',
    pages: {
      same: 'Values|<p>The value 2GB, 2GB, 2GB and then read_timeout.</p>',
      other: 'More values|<p>Write 2GB.</p>',
      set: 'Settings|<p>The setting read_timeout is the longest pause.</p>',
      size: 'Sizes|<p>The setting max_read_size limits a file, a part, a page, and each of the values.</p>',
    },
    questions: [['max_read_size 2GB', '/size.html']],
  },
  {
    name: 'names',
    pages: {
      node: 'Runtimes|<p>Install Node.js first, then Vue.js.</p>',
      tree: 'Trees|<p>A node has a parent node. The js of a node is small.</p>',
      plus: 'Native code|<p>Write extensions in C++ or C/C++, and tools in C#.</p>',
      c: 'The letter C|<p>C is a letter. The c key is on the left, c.</p>',
      dot: 'Windows|<p>The service runs on .NET and reads .env files.</p>',
      net: 'Fishing|<p>A net catches fish. The net is wide, and the env is wet.</p>',
      join: 'Paths|<p>Call os.path.join to build a path.</p>',
      os: 'Systems|<p>The os has a path. Join the path of the os: os, path, join.</p>',
      tls: 'Certificates|<p>Set server.tls.certFile to the file.</p>',
      cert: 'Files|<p>The cert file of the server: tls, server, cert, file.</p>',
      retry: 'Retries|<p>Set maxRetryCount, or max_retry_count in the file, or --max-retry-count.</p>',
      at: 'Style sheets|<p>Use @media for screens and $primaryColor for links.</p>',
      media: 'Media|<p>Media are images. The media folder holds media in a primary color.</p>',
    },
    questions: [
      ['Node.js', '/node.html'],
      ['nodejs', '/node.html'],
      ['install node.js', '/node.html'],
      ['C++', '/plus.html'],
      ['C#', '/plus.html'],
      ['c++ extensions', '/plus.html'],
      ['.NET', '/dot.html'],
      ['.env', '/dot.html'],
      ['os.path.join', '/join.html'],
      ['how to use os.path.join', '/join.html'],
      ['server.tls.certFile', '/tls.html'],
      ['certFile', '/tls.html'],
      ['max-retry-count', '/retry.html'],
      ['retry count', '/retry.html'],
      ['@media', '/at.html'],
      ['$primaryColor', '/at.html'],
    ],
  },
  {
    name: 'contractions',
    pages: {
      apo: "Style|<p>Don’t use rock'n'roll; the server’s certificate isn't valid. Messages have no contractions, and names such as O’Reilly keep their sign.</p>",
      tas: 'TAS notes|<p>The tas register keeps ras and tas values.</p>',
      tables: 'Tables|<p>The table of tokens, the text of the task.</p>',
      rocks: 'Stones|<p>A rock does not roll. Rocks are stones.</p>',
      we: 'Support|<p>We’ll call you, and you’re welcome to call.</p>',
      shell: 'Shell|<p>The shell of the snail, and the well in the garden.</p>',
    },
    questions: [
      ["don't", '/apo.html'],
      ['don’t', '/apo.html'],
      ['dont', '/apo.html'],
      ['don\u00b4t', '/apo.html'],
      ['don\u2032t', '/apo.html'],
      ["DON'T", '/apo.html'],
      ['isnt valid', '/apo.html'],
      ["server's certificate", '/apo.html'],
      ["o'reilly", '/apo.html'],
      ['oreilly', '/apo.html'],
      ["rock'n'roll", '/apo.html'],
      ["we'll call", '/we.html'],
    ],
  },
  {
    name: 'symbols',
    pages: {
      ops: 'Operators|<h2 id="nullish"><code>??</code></h2><p>Gives the right side if the left is null.</p><h2 id="optional"><code>?.</code></h2><p>Stops at null.</p><h2 id="pipe"><code>||&gt;</code></h2><p>Pipes a pair.</p><h2 id="or">The <code>|</code> operator</h2><p>Either of two.</p>',
      rust: 'Rust|<p>Write <code>std::vec</code>: the path separator of Rust is ::, and an arrow is -&gt;.</p>',
      cpp: 'Shifts|<pre><code>x &lt;&lt;= 2;\ny = a &amp;&amp; b;\nif (p === q) r = s =&gt; t;</code></pre>',
      pg: 'Full text|<p>The operator @@ matches a query, and @&gt; contains.</p>',
      elixir: 'Pipes|<p>Chain calls with <code>|&gt;</code> in Elixir.</p>',
      tmpl: 'Templates|<p>Write {{ name }} for a value and {% if %} for a condition. In scripts, $&#123;name}.</p>',
      rem: 'Remainder|<h2 id="percent"><code>%</code></h2><p>The rest of a division.</p>',
      what: 'What and why|<p>What does it do? Why?? The operator of the line. Rust is also on iron.</p>',
    },
    questions: [
      ['??', '/ops.html#nullish'],
      ['?.', '/ops.html#optional'],
      ['||>', '/ops.html#pipe'],
      ['|>', '/elixir.html'],
      ['->', '/rust.html'],
      ['::', '/rust.html'],
      ['<<=', '/cpp.html'],
      ['@@', '/pg.html'],
      ['@>', '/pg.html'],
      ['=>', '/cpp.html'],
      ['===', '/cpp.html'],
      ['&&', '/cpp.html'],
      ['{{', '/tmpl.html'],
      [`$${'{'}`, '/tmpl.html'],
      ['%', '/rem.html#percent'],
      ['what does ?? do', '/ops.html#nullish'],
      ['rust :: operator', '/rust.html'],
      ['what is `?.`?', '/ops.html#optional'],
      ['operator @@', '/pg.html'],
      ['the | operator', '/ops.html#or'],
      ['<=>', null],
      ['???', null],
    ],
  },
  {
    name: 'signs of templates and quotes',
    pages: {
      tmpl: 'Templates|<p>Start with <code>{{#if x}}</code>, include <code>{{&gt; menu}}</code>, trim <code>{%- if -%}</code>, comment with <code>{# x #}</code>.</p>',
      text: 'Texts|<p>Insert <code>$&#123;name}</code>, a picture <code>![x](y)</code>, a docstring <code>"""</code> and a fence <code>```</code>.</p>',
      sh: 'Shell|<p>Read from <code>&lt;(sort x)</code>.</p>',
      js: 'Signs|<h2 id="ternary">Ternary <code>? :</code></h2><p>Chooses.</p><h2 id="inc">Increment <code>++</code></h2><p>Adds one.</p>',
      cpp: 'C++|<p>C++ is a language.</p>',
    },
    questions: [
      ['{{#', '/tmpl.html'],
      ['{{', '/tmpl.html'],
      ['{{>', '/tmpl.html'],
      ['{%-', '/tmpl.html'],
      ['{%', '/tmpl.html'],
      ['{#', '/tmpl.html'],
      [`$${'{}'}`, '/text.html'],
      ['![', '/text.html'],
      ['"""', '/text.html'],
      ['```', '/text.html'],
      ['<(', '/sh.html'],
      ['?:', '/js.html#ternary'],
      ['++', '/js.html#inc'],
      ['C++', '/cpp.html'],
    ],
  },
  {
    name: 'nonsense',
    pages: {
      keys: 'Keys|<p>Rotate the signing keys once a month.</p>',
      back: 'Backup|<p>Each night the service copies its data to disk 0.</p>',
    },
    questions: [
      ['zxqvjk', null],
      ['asdfghjkl qwertzuiop', null],
      ['how do I zxqvjk', null],
      ['12345678901', null],
      ['0xDEADBEEF', null],
      ['!!!', null],
    ],
  },
];

/** Sites of `technical-sites.txt`. A question may have several right pages, separated by bars. */
const TECHNICAL_SITES = smallSites('technical-sites.txt').map(({ language: name, pages, questions }): Site => {
  const own = pages.map(({ path, title, text }) => [path.slice(1), `${title}|${text}`] as const);
  const address = (page: string): string => page.replace(/#|$/, '.html$&');
  const addresses = (pages: string) => (pages === 'null' ? null : pages.split('|').map(address).join('|'));
  return {
    name,
    pages: Object.fromEntries(own),
    questions: questions.map(({ query, page }) => [query, addresses(page)]),
  };
});

const NOISE = Array.from({ length: 12 }, (_, n) => {
  const text = `How to run, start and build part ${n} of the server: its user, its table, its type, its name and its time, in version ${n}.0, with ${n} workers.`;
  return [`noise/n${n}`, `Topic ${n}|<p>${text}</p>`] as const;
});

let model: { readonly embedder: EmbeddingModel; readonly scale: CosineScale };
beforeAll(async () => {
  const embedder = await EmbeddingModel.load(MODEL);
  model = { embedder, scale: await measureScale(embedder) };
});
afterAll(() => model.embedder.close());

describe.each([...SITES, ...TECHNICAL_SITES])('search on a site about $name', ({ pages, questions }) => {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-questions-'));
  let release: ReleaseSearch;

  beforeAll(async () => {
    await writeIndex(folder, pages, model.embedder);
    release = new ReleaseSearch(folder);
  });
  afterAll(() => {
    release.close();
    rmSync(folder, { recursive: true });
  });

  async function pathsOf(query: string, isByWords: boolean): Promise<string[]> {
    const { embedder, scale } = model;
    const load = async (): Promise<SemanticParts> => {
      const table = VectorTable.open(join(folder, 'vectors.bin'), embedder.digest);
      if (table === null) throw new Error('the vectors are missing');
      return { embedder, vectors: new VectorIndex(table, scale) };
    };
    const semantic = isByWords ? null : { digest: embedder.digest, revision: 1, load };
    const results = await release.search(
      { ...searchRequestOf({ query, pageSize: 30 }), prefixLast: true },
      'v1',
      semantic,
    );
    return results.map(({ path }) => path);
  }

  describe.each([
    ['by words', true],
    ['by words and meaning', false],
  ])('%s', (_, isByWords) => {
    it.each(questions)('returns for the query %j the first result %j', async (query, first) => {
      const paths = await pathsOf(query, isByWords);
      if (first === null) expect(paths).toEqual([]);
      else if (first.startsWith('!')) expect(paths.map(pageOf)).not.toContain(first.slice(1));
      else expect(first.split('|')).toContain(first.includes('#') ? paths[0] : pageOf(paths[0] ?? ''));
    });
  });
});

const pageOf = (path: string) => path.replace(/#.*/, '');

async function writeIndex(folder: string, pages: Pages, embedder: Embedder): Promise<void> {
  const writer = new KeywordIndexWriter(join(folder, 'keyword.sqlite'));
  for (const [name, page] of [...Object.entries(pages), ...NOISE]) {
    const border = page.indexOf('|');
    const [title, body] = [page.slice(0, border), page.slice(border + 1)];
    const file = `${name.replace('/', '-')}.html`;
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} | Demo</title><main><h1>${title}</h1>${body}</main>`;
    writeFileSync(join(folder, file), html);
    const url = `/${name}.html`;
    const read = readPage(folder, { path: file, version: null, type: 'text/html', url });
    for (const { section, passages } of read?.sections ?? []) writer.add({ ...section, page: url }, passages);
  }
  writer.finish();
  const known = { digest: embedder.digest, load: async () => embedder };
  const order = { searchDir: folder, release: 'r', cacheDir: join(folder, 'cache'), lanesMax: 1, ignoresOthers: true };
  const embedding = new EmbedProcess(async () => known);
  const choice = { kind: 'folder', folder: dirname(MODEL) } as const;
  await embedding.embed({ ...order, model: choice }, () => undefined, new AbortController().signal);
}
