//! Whole logs: several errors, chains of exceptions, tracebacks in every form, cut and escaped.

use trace::text::{Artifact, OomKind, OtherFramework, Refusal, StatedOom, read};
use trace::{Bytes, Frame};

use crate::expect::{errors, look_alikes, prefixed};
use crate::sizes::*;

const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free. Of the allocated memory 22.10 GiB is allocated by PyTorch, and 19.00 MiB is reserved by PyTorch but unallocated.";

fn only(text: &str) -> StatedOom {
    let mut found = errors(text.as_bytes());
    assert_eq!(found.len(), 1, "{text}\n{found:#?}");
    found.pop().unwrap()
}

/// The frames of the only error, innermost first, as `file:line function`.
fn check_frames(text: &str, expected: &[&str]) {
    let show = |frame: &Frame| format!("{}:{} {}", frame.file, frame.line, frame.function);
    let found: Vec<String> = only(text).traceback.iter().map(show).collect();
    assert_eq!(found, expected, "{text}");
}

const TRACEBACK: &str = "Traceback (most recent call last):
  File \"/home/me/train.py\", line 42, in <module>
    main()
  File \"/home/me/train.py\", line 31, in main
    loss.backward()
    ^^^^^^^^^^^^^^^
  File \"/usr/lib/python3.11/site-packages/torch/_tensor.py\", line 525, in backward
    torch.autograd.backward(
";

const FRAMES: [&str; 3] = [
    "/usr/lib/python3.11/site-packages/torch/_tensor.py:525 backward",
    "/home/me/train.py:31 main",
    "/home/me/train.py:42 <module>",
];

#[test]
fn a_traceback_of_python_is_read_behind_any_prefix() {
    let text = format!("{TRACEBACK}{MESSAGE}\n");
    check_frames(&format!("step 1\n{text}done\n"), &FRAMES);
    for prefix in
        ["[rank3]: ", "[default3]:", "2024-05-01 10:00:00,123 ERROR ", "(Worker pid=9, ip=10.0.0.1) ", "a-1  | "]
    {
        check_frames(&prefixed(&text, prefix), &FRAMES);
    }
    check_frames(&text.replace('\n', "\r\n"), &FRAMES);
}

#[test]
fn a_traceback_on_one_line_of_a_structured_log_is_read() {
    let text = format!("{TRACEBACK}{MESSAGE}");
    let json = text.replace('"', "\\\"").replace('\n', "\\n");
    check_frames(&format!("{{\"a\": 1, \"exc\": \"{json}\"}}\n"), &FRAMES);
    let repr = text.replace('\n', "\\n");
    check_frames(&format!("failed: '{repr}'\n"), &FRAMES);
}

#[test]
fn a_traceback_with_colours_or_in_html_is_read() {
    let text = format!("{TRACEBACK}{MESSAGE}\n");
    let coloured = text.replace("\"/home/me/train.py\"", "\u{1b}[35m\"/home/me/train.py\"\u{1b}[0m");
    check_frames(&coloured, &FRAMES);
    let html = text.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    check_frames(&html, &FRAMES);
}

#[test]
fn tracebacks_of_ranks_that_write_at_once_are_told_apart() {
    let text = "[rank0]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank0]:   File \"a.py\", line 1, in f
[rank1]:   File \"a.py\", line 2, in g
[rank1]:     x()
[rank0]:     y()
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity of 24.00 GiB of which 7.61 MiB is free.
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free.
";
    let found = errors(text.as_bytes());
    let places: Vec<_> = found.iter().map(|oom| (oom.rank, oom.device_index, oom.traceback[0].line)).collect();
    assert_eq!(places, [(Some(1), Some(1), 2), (Some(0), Some(0), 1)]);
}

#[test]
fn richs_box_is_read_and_paths_that_it_breaks_are_put_together() {
    let text = "
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/me/train.py:42 in <module>                                             │
│                                                                              │
│   39                                                                         │
│ ❱ 42 main()                                                                  │
│                                                                              │
│ /home/me/very/long/path/of/a/virtual/environment/lib/python3.11/site-package │
│ s/torch/_tensor.py:525 in backward                                           │
│                                                                              │
│    522 │   │   )                                                             │
│ ❱  525 │   │   torch.autograd.backward(                                      │
╰──────────────────────────────────────────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a
total capacity of 24.00 GiB of which 7.61 MiB is free.
";
    check_frames(
        text,
        &[
            "/home/me/very/long/path/of/a/virtual/environment/lib/python3.11/site-packages/torch/_tensor.py:525 backward",
            "/home/me/train.py:42 <module>",
        ],
    );
    let oom = only(text);
    assert_eq!(
        (oom.requested_bytes, oom.total_bytes, oom.free_bytes),
        (Some(MIB_20_00), Some(GIB_24_00), Some(MIB_7_61))
    );
    assert_eq!(
        oom.message,
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free."
    );
}

#[test]
fn ipythons_forms_are_read() {
    let new = format!(
        "---------------------------------------------------------------------------
OutOfMemoryError                          Traceback (most recent call last)
Cell In[3], line 2
      1 model.cuda()
----> 2 train(model, batch)

Cell In[2], line 7, in train(model, batch)
      6 loss = model(batch)
----> 7 loss.backward()

File ~/env/lib/python3.11/site-packages/torch/_tensor.py:525, in Tensor.backward(self, gradient)
    524     )
--> 525 torch.autograd.backward(

{}
",
        MESSAGE.replace("torch.", "")
    );
    check_frames(
        &new,
        &[
            "~/env/lib/python3.11/site-packages/torch/_tensor.py:525 Tensor.backward",
            "Cell In[2]:7 train",
            "Cell In[3]:2 <module>",
        ],
    );
    let old = "---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-5-0a1b2c3d> in <module>
      1 for batch in loader:
----> 2     train(batch)

<ipython-input-4-9f8e7d6c> in train(batch)
      6     loss = model(batch)
----> 7     loss.backward()

~/env/lib/python3.8/site-packages/torch/tensor.py in backward(self, gradient)
    184         \"\"\"
--> 185         torch.autograd.backward(self, gradient)

RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.00 GiB already allocated; 7.61 MiB free; 6.85 GiB reserved in total by PyTorch)
";
    check_frames(
        old,
        &[
            "~/env/lib/python3.8/site-packages/torch/tensor.py:185 backward",
            "<ipython-input-4-9f8e7d6c>:7 train",
            "<ipython-input-5-0a1b2c3d>:2 <module>",
        ],
    );
}

#[test]
fn pytests_short_form_is_read() {
    let text = format!("test_a.py:12: in test_a\n    f()\nmodel.py:3: in f\n    g()\nE   {MESSAGE}\n");
    check_frames(&text, &["model.py:3 f", "test_a.py:12 test_a"]);
}

#[test]
fn without_the_head_of_a_traceback_the_frames_up_to_the_first_other_line_are_kept() {
    let text = format!(
        "  File \"old.py\", line 9, in old\nepoch 3 begins\n  File \"a.py\", line 2, in f\n    g()\n  File \"a.py\", line 5, in g\n    h()\n{MESSAGE}\n"
    );
    check_frames(&text, &["a.py:5 g", "a.py:2 f"]);
}

#[test]
fn a_workers_traceback_goes_on_in_that_of_its_parent() {
    let worker = format!(
        "RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File \"/usr/lib/python3.11/site-packages/torch/storage.py\", line 414, in _new_shared
    return cls._new_using_fd_cpu(size)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
{MESSAGE}
"
    );
    let inner = "/usr/lib/python3.11/site-packages/torch/storage.py:414 _new_shared";
    check_frames(&format!("{TRACEBACK}{worker}"), &[&[inner], &FRAMES[..]].concat());
    check_frames(&format!("epoch 3 of 9\n{worker}"), &[inner]);
    let (_, headless) = TRACEBACK.split_at(TRACEBACK.find("  File").unwrap());
    check_frames(&format!("epoch 3 of 9\n{headless}{worker}"), &[inner]);
}

#[test]
fn an_error_that_is_logged_and_raised_is_one_with_its_traceback() {
    let text = format!("ERROR step 3 failed: {MESSAGE}\n{TRACEBACK}{MESSAGE}\nERROR giving up: {MESSAGE}\n");
    let oom = only(&text);
    assert_eq!((oom.line, oom.occurrences, oom.traceback.len()), (1, 3, 3));
}

#[test]
fn an_exception_during_the_handling_of_another_is_one_error_with_the_first_traceback() {
    let text = format!(
        "{TRACEBACK}{MESSAGE}\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"run.py\", line 3, in run\n    raise RuntimeError(str(error))\nRuntimeError: {}\n",
        MESSAGE.split_once(": ").unwrap().1
    );
    let oom = only(&text);
    assert_eq!((oom.occurrences, oom.exception.as_deref()), (2, Some("torch.OutOfMemoryError")));
    assert_eq!(oom.traceback[0].line, 525);
}

#[test]
fn a_second_error_says_whether_the_first_was_still_being_handled() {
    let second = MESSAGE.replace("7.61 MiB is free", "1.50 KiB is free");
    let boxed = "╭─── Traceback (most recent call last) ───╮\n│ /home/me/train.py:31 in main │\n╰───╯\n";
    let words = "During handling of the above exception, another exception occurred:";
    let cases = [
        (format!("{TRACEBACK}{MESSAGE}\n\n{words}\n\n{TRACEBACK}{second}\n"), true),
        (format!("{boxed}{MESSAGE}\n\n{words}\n\n{boxed}{second}\n"), true),
        (prefixed(&format!("{TRACEBACK}{MESSAGE}\n\n{words}\n\n{TRACEBACK}{second}\n"), "[rank3]: "), true),
        (format!("{TRACEBACK}{MESSAGE}\n{TRACEBACK}{second}\n"), false),
        (format!("{TRACEBACK}{MESSAGE}\nretrying\n\n\n\n{TRACEBACK}{second}\n"), false),
        (format!("{MESSAGE}\n{second}\n"), false),
    ];
    for (text, expected) in cases {
        let found: Vec<bool> = errors(text.as_bytes()).iter().map(|oom| oom.while_handling).collect();
        assert_eq!(found, [false, expected], "{text}");
    }
}

#[test]
fn a_later_printing_that_is_cut_off_adds_nothing_and_a_fuller_one_completes() {
    let cut = &MESSAGE[..MESSAGE.find(" of which").unwrap()];
    for text in [format!("{cut}\n{MESSAGE}\n"), format!("{MESSAGE}\n{cut}\n")] {
        let oom = only(&text);
        assert_eq!((oom.line, oom.free_bytes), (1, Some(MIB_7_61)), "{text}");
    }
}

#[test]
fn errors_that_differ_in_a_number_a_device_or_a_rank_are_several() {
    let other = MESSAGE.replace("7.61 MiB is free", "1.50 KiB is free");
    let text = format!("{MESSAGE}\n{other}\n{}\n", MESSAGE.replace("GPU 0", "GPU 1"));
    assert_eq!(errors(text.as_bytes()).iter().map(|oom| oom.line).collect::<Vec<_>>(), [1, 2, 3]);
    let text = format!("[rank0]: {MESSAGE}\n[rank1]: {MESSAGE}\n[rank0]: {MESSAGE}\n");
    let found: Vec<_> = errors(text.as_bytes()).iter().map(|oom| (oom.rank, oom.occurrences)).collect();
    assert_eq!(found, [(Some(0), 2), (Some(1), 1)]);
}

#[test]
fn errors_of_several_kinds_stand_in_the_order_of_the_text() {
    let text = format!(
        "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes.\n{MESSAGE}\nRuntimeError: CUDA error: out of memory\nRuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. \nKilled\n"
    );
    let lines: Vec<u32> = read(text.as_bytes()).iter().map(Artifact::first_line).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
    let kinds: Vec<OomKind> = errors(text.as_bytes()).iter().map(|oom| oom.kind).collect();
    assert_eq!(kinds, [OomKind::Foreign, OomKind::Allocator, OomKind::DeviceCall, OomKind::Ended]);
}

#[test]
fn the_kernels_lines_about_one_process_are_one_error_and_those_about_two_are_two() {
    let text = "[1.0] python invoked oom-killer: gfp_mask=0x100cca\n[1.1] oom-kill:constraint=CONSTRAINT_NONE,task=python,pid=808,uid=0\n[1.2] Out of memory: Killed process 808 (python) total-vm:9kB, anon-rss:8kB\n[1.3] oom_reaper: reaped process 808 (python)\n[9.9] Out of memory: Killed process 909 (python) total-vm:9kB, anon-rss:8kB\n";
    let found: Vec<_> = errors(text.as_bytes()).iter().map(|oom| (oom.pid, oom.occurrences)).collect();
    assert_eq!(found, [(Some(808), 4), (Some(909), 1)]);
}

#[test]
fn pytorchs_log_line_about_a_refusal_is_no_error() {
    let text = "[rank1]:[W1121 08:29:25.647437618 CUDACachingAllocator.cpp:3933] memory allocation failed with OOM on device 1 while trying to allocate 1048576000 bytes (free: 574619648, total: 2147483648).\n";
    let refusal = Refusal {
        line: 1,
        rank: Some(1),
        device_index: Some(1),
        requested_bytes: Some(Bytes(1_048_576_000)),
        free_bytes: Some(Bytes(574_619_648)),
        total_bytes: Some(Bytes(2_147_483_648)),
    };
    assert_eq!(read(text.as_bytes()), [Artifact::Refusal(refusal)]);
}

#[test]
fn a_class_whose_message_is_cut_off_at_the_end_of_the_text_is_an_error() {
    for end in ["torch.OutOfMemoryError", "torch.OutOfMemoryError:", "torch.cuda.OutOfMemoryError: \n"] {
        let oom = only(&format!("{TRACEBACK}{end}"));
        assert_eq!((oom.requested_bytes, oom.traceback.len()), (None, 3), "{end}");
    }
}

#[test]
fn words_on_the_line_of_an_error_are_not_counted_as_a_mention() {
    let text = format!("ran out of memory: {MESSAGE}\nexcept torch.OutOfMemoryError:\n");
    assert_eq!(errors(text.as_bytes()).len(), 1);
    assert_eq!(look_alikes(&text), [OtherFramework::Mention]);
}

#[test]
fn bytes_that_are_no_utf8_and_utf16_are_read() {
    let mut bytes = b"\xff\xfe\x80 step\n".to_vec();
    bytes.splice(0..2, []);
    bytes.extend_from_slice(MESSAGE.as_bytes());
    assert_eq!(errors(&bytes).len(), 1);
    let text = format!("{TRACEBACK}{MESSAGE}\r\n");
    let little: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        let found = errors(&bytes);
        assert_eq!((found.len(), found[0].line, found[0].traceback.len()), (1, 9, 3));
    }
}

#[test]
fn parts_of_the_reserved_memory_add_up_in_every_version() {
    let text = "RuntimeError: CUDA out of memory. Tried to allocate 16.00 GiB (GPU 0; 11.93 GiB total capacity; 4.00 GiB already allocated; 7.33 GiB free; 179.00 KiB cached)";
    let oom = only(text);
    assert_eq!(oom.reserved().unwrap().nearest, Bytes(4_294_967_296 + 183_296));
    let text = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 2.00 GiB of which 7.61 MiB is free. Of the allocated memory 533.00 MiB is allocated by PyTorch, with 30.00 MiB allocated in private pools (e.g., CUDA Graphs), and 19.00 MiB is reserved by PyTorch but unallocated.";
    let oom = only(text);
    assert_eq!(oom.reserved().unwrap().nearest, Bytes::from_mib(552));
    assert_eq!(oom.allocated().unwrap().nearest, Bytes::from_mib(503));
    assert_eq!(oom.unallocated().unwrap().nearest, Bytes::from_mib(49));
    let text = "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 24.00 GiB total capacity; 4.00 GiB already allocated; 7.61 MiB free; 6.00 GiB reserved in total by PyTorch)";
    let unallocated = only(text).unallocated().unwrap();
    assert_eq!(unallocated.nearest, Bytes::from_gib(2));
    assert_eq!(unallocated.lowest, Bytes(2_147_483_648 - 2 * 5_368_709));
}
