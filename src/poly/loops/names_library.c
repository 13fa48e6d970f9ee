/* SPDX-License-Identifier: MIT */
/* names_library.c - functions and variables of the C library and of POSIX.
 *
 * A kernel of such a name would take the place of the library's in the whole
 * program that it is linked to, and a constant beside them would be declared
 * twice.  The words stand by their first letter, with a space on either side of
 * each. */
#include "base/text.h"
#include "poly/loops/names.h"
#include <string.h>

/* By letter. */
static const char *const library[26] = {
    ['a' - 'a'] =
        " a64l abort abs accept accept4 access acct addmntent addseverity "
        "adjtime adjtimex alarm aligned_alloc alphasort arc4random "
        "arc4random_buf arc4random_uniform arch_prctl asctime asprintf "
        "at_quick_exit atof atoi atol atoll ",
    ['b' - 'a'] =
        " backtrace backtrace_symbols backtrace_symbols_fd basename bcmp bcopy "
        "bind bind_textdomain_codeset bindresvport bindtextdomain brk "
        "bsd_signal bsearch btowc bzero ",
    ['c' - 'a'] =
        " c16rtomb c32rtomb c8rtomb cabs cacos call_once calloc "
        "canonicalize_file_name capget capset carg casin catan catclose "
        "catgets catopen ccos cexp cfgetispeed cfgetospeed cfmakeraw "
        "cfsetispeed cfsetospeed cfsetspeed chdir chflags chmod chown chroot "
        "cimag clearenv clearerr clock clog clone close close_range closedir "
        "closefrom closelog confstr conj connect copy_file_range copysign "
        "copysignf copysignl cpow cproj creal creat csin csqrt ctan ctermid "
        "ctime cuserid ",
    ['d' - 'a'] =
        " daemon daylight dcgettext dcngettext delete_module dgettext difftime "
        "dirfd dirname div dl_iterate_phdr dladdr dladdr1 dlclose dlerror "
        "dlinfo dlmopen dlopen dlsym dlvsym dn_comp dn_expand dn_skipname "
        "dngettext dprintf drand48 dup dup2 dup3 duplocale dysize ",
    ['e' - 'a'] =
        " eaccess ecvt endaliasent endfsent endgrent endhostent endmntent "
        "endnetent endnetgrent endprotoent endpwent endrpcent endservent "
        "endsgent endspent endttyent endusershell endutent endutxent environ "
        "erand48 err errno error error_at_line error_message_count "
        "error_one_per_line error_print_progname errx euidaccess eventfd execl "
        "execle execlp execv execve execveat execvp execvpe exit "
        "explicit_bzero ",
    ['f' - 'a'] =
        " faccessat fallocate fchdir fchflags fchmod fchmodat fchown fchownat "
        "fclose fcloseall fcntl fcvt fdatasync fdopen fdopendir feclearexcept "
        "fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept "
        "ferror fesetenv fesetexceptflag fesetround fetestexcept feupdateenv "
        "fexecve fflush ffs ffsl ffsll fgetc fgetgrent fgetpos fgetpwent fgets "
        "fgetsgent fgetspent fgetwc fgetws fgetxattr fileno finite finitef "
        "finitel flistxattr flock flockfile fmemopen fmtmsg fnmatch fopen "
        "fopencookie fork forkpty fpathconf fpclassify fprintf fputc fputs "
        "fputwc fputws fread free freeaddrinfo freeifaddrs freelocale "
        "fremovexattr freopen frexp frexpf frexpl fscanf fsconfig fseek fseeko "
        "fsetpos fsetxattr fsmount fsopen fspick fstat fstatat fstatfs "
        "fstatvfs fsync ftell ftello ftime ftok ftruncate ftrylockfile ftw "
        "funlockfile futimens futimes futimesat fwide fwprintf fwrite fwscanf ",
    ['g' - 'a'] =
        " gcvt get_avphys_pages get_current_dir_name get_nprocs "
        "get_nprocs_conf get_phys_pages getaddrinfo getaliasbyname getaliasent "
        "getauxval getc getchar getcontext getcpu getcwd getdate getdate_err "
        "getdelim getdents64 getdirentries getdomainname getdtablesize getegid "
        "getentropy getenv geteuid getfsent getfsfile getfsspec getgid "
        "getgrent getgrgid getgrnam getgrouplist getgroups gethostbyaddr "
        "gethostbyname gethostbyname2 gethostent gethostid gethostname "
        "getifaddrs getipv4sourcefilter getitimer getline getloadavg getlogin "
        "getmntent getnameinfo getnetbyaddr getnetbyname getnetent getnetgrent "
        "getopt getopt_long getopt_long_only getpagesize getpass getpeername "
        "getpgid getpgrp getpid getppid getpriority getprotobyname "
        "getprotobynumber getprotoent getpt getpw getpwent getpwnam getpwuid "
        "getrandom getresgid getresuid getrlimit getrpcbyname getrpcbynumber "
        "getrpcent getrusage gets getservbyname getservbyport getservent "
        "getsgent getsgnam getsid getsockname getsockopt getsourcefilter "
        "getspent getspnam getsubopt gettext gettid gettimeofday getttyent "
        "getttynam getuid getusershell getutent getutid getutline getutmp "
        "getutmpx getutxent getutxid getutxline getw getwc getwchar getwd "
        "getxattr glob glob_pattern_p globfree gmtime grantpt group_member "
        "gsignal gtty ",
    ['h' - 'a'] =
        " h_errlist h_nerr hasmntopt hcreate hdestroy herror hsearch hstrerror "
        "htonl htons ",
    ['i' - 'a'] =
        " iconv iconv_close iconv_open imaxabs imaxdiv in6addr_any "
        "in6addr_loopback index init_module initgroups initstate innetgr "
        "insque ioctl ioperm iopl isalnum isalpha isascii isatty isblank "
        "iscntrl isctype isdigit isfdtype isfinite isgraph isgreater isinf "
        "isinff isinfl isless islower isnan isnanf isnanl isnormal isprint "
        "ispunct isspace isunordered isupper iswalnum iswalpha iswblank "
        "iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct "
        "iswspace iswupper iswxdigit isxdigit ",
    ['j' - 'a'] = " jrand48 ",
    ['k' - 'a'] = " kill killpg klogctl ",
    ['l' - 'a'] =
        " l64a labs lchmod lchown lckpwdf lcong48 ldexp ldexpf ldexpl ldiv "
        "lfind lgetxattr link linkat listen listxattr llabs lldiv llistxattr "
        "localeconv localtime lockf login login_tty logout logwtmp longjmp "
        "lrand48 lremovexattr lsearch lseek lsetxattr lstat lutimes ",
    ['m' - 'a'] =
        " madvise makecontext mallinfo mallinfo2 malloc mblen mbrlen mbrtoc16 "
        "mbrtoc32 mbrtoc8 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc "
        "mcheck mcheck_check_all mcheck_pedantic mcount memalign memccpy "
        "memchr memcmp memcpy memfd_create memfrob memmem memmove mempcpy "
        "memrchr memset mincore mkdir mkdirat mkdtemp mkfifo mkfifoat mknod "
        "mknodat mkostemp mkostemps mkstemp mkstemps mktemp mktime mlock "
        "mlock2 mlockall mmap modf modff modfl modify_ldt moncontrol "
        "monstartup mount mount_setattr move_mount mprobe mprotect mrand48 "
        "mremap msgctl msgget msgrcv msgsnd msync mtrace munlock munlockall "
        "munmap muntrace ",
    ['n' - 'a'] =
        " name_to_handle_at nanosleep newlocale nftw ngettext nice nrand48 "
        "ns_name_compress ns_name_ntop ns_name_pack ns_name_pton ns_name_skip "
        "ns_name_uncompress ns_name_unpack ntohl ntohs ntp_adjtime ntp_gettime "
        "ntp_gettimex ",
    ['o' - 'a'] =
        " on_exit open open_by_handle_at open_memstream open_tree "
        "open_wmemstream openat opendir openlog openpty optarg opterr optind "
        "optopt ",
    ['p' - 'a'] =
        " parse_printf_format pathconf pause pclose perror personality pipe "
        "pipe2 pivot_root poll popen ppoll prctl pread preadv preadv2 "
        "preadv64v2 printf printf_size printf_size_info prlimit profil pselect "
        "psiginfo psignal ptrace ptsname putc putchar putenv putgrent putpwent "
        "puts putsgent putspent pututline pututxline putw putwc putwchar "
        "pvalloc pwrite pwritev pwritev2 pwritev64v2 ",
    ['q' - 'a'] = " qecvt qfcvt qgcvt qsort quick_exit quotactl ",
    ['r' - 'a'] =
        " raise rand random rawmemchr re_comp re_compile_fastmap "
        "re_compile_pattern re_exec re_match re_match_2 re_max_failures "
        "re_search re_search_2 re_set_registers re_set_syntax "
        "re_syntax_options read readahead readdir readlink readlinkat readv "
        "realloc reallocarray realpath reboot recv recvfrom recvmmsg recvmsg "
        "regcomp regerror regexec regfree remap_file_pages remove removexattr "
        "remque rename renameat renameat2 res_dnok res_hnok res_mailok "
        "res_mkquery res_nmkquery res_nquery res_nquerydomain res_nsearch "
        "res_nsend res_ownok res_query res_querydomain res_search res_send "
        "revoke rewind rewinddir rexec rexec_af rexecoptions rindex rmdir "
        "rpmatch rresvport rresvport_af ruserpass ",
    ['s' - 'a'] =
        " sbrk scalbn scalbnf scalbnl scandir scandirat scanf secure_getenv "
        "seed48 seekdir select sem_close sem_open sem_post sem_wait semctl "
        "semget semop semtimedop send sendfile sendmmsg sendmsg sendto "
        "setaliasent setbuf setbuffer setcontext setdomainname setegid setenv "
        "seteuid setfsent setfsgid setfsuid setgid setgrent setgroups "
        "sethostent sethostid sethostname setipv4sourcefilter setitimer setjmp "
        "setlinebuf setlocale setlogin setlogmask setmntent setnetent "
        "setnetgrent setns setpgid setpgrp setpriority setprotoent setpwent "
        "setregid setresgid setresuid setreuid setrlimit setrpcent setservent "
        "setsgent setsid setsockopt setsourcefilter setspent setstate "
        "settimeofday setttyent setuid setusershell setutent setutxent setvbuf "
        "setxattr sgetsgent sgetspent shm_open shm_unlink shmat shmctl shmdt "
        "shmget shutdown sigabbrev_np sigaction sigaddset sigaltstack "
        "sigandset sigblock sigdelset sigdescr_np sigemptyset sigfillset "
        "siggetmask sighold sigignore siginterrupt sigisemptyset sigismember "
        "siglongjmp signal signalfd signbit sigorset sigpause sigpending "
        "sigprocmask sigqueue sigrelse sigreturn sigset sigsetmask sigstack "
        "sigsuspend sigtimedwait sigwait sigwaitinfo sleep snprintf sockatmark "
        "socket socketpair splice sprintf sprofil srand srand48 srandom sscanf "
        "ssignal stat statfs statvfs statx std stderr stdin stdout stpcpy "
        "stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll "
        "strcpy strcspn strdup strerror strerrordesc_np strerrorname_np "
        "strfmon strfromd strfromf strfromf128 strfromf32 strfromf32x "
        "strfromf64x strfroml strfry strftime strlen strncasecmp strncat "
        "strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep "
        "strsignal strspn strstr strtod strtof strtof128 strtof32 strtof32x "
        "strtof64x strtoimax strtok strtol strtold strtoll strtoq strtoul "
        "strtoull strtoumax strtouq strverscmp strxfrm stty swab swapcontext "
        "swapoff swapon swprintf swscanf symlink symlinkat sync "
        "sync_file_range syncfs syscall sysconf sysinfo syslog system "
        "sysv_signal ",
    ['t' - 'a'] =
        " tcdrain tcflow tcflush tcgetattr tcgetpgrp tcgetsid tcsendbreak "
        "tcsetattr tcsetpgrp tdelete tdestroy tee telldir tempnam textdomain "
        "tfind tgkill thrd_current time timegm timelocal times timespec_get "
        "timespec_getres timezone tmpfile tmpnam toascii tolower toupper "
        "towctrans towlower towupper truncate tsearch ttyname ttyslot twalk "
        "tzname tzset ",
    ['u' - 'a'] =
        " ualarm ulckpwdf ulimit umask umount umount2 uname ungetc ungetwc "
        "unlink unlinkat unlockpt unsetenv unshare updwtmp updwtmpx uselocale "
        "usleep utime utimensat utimes utmpname utmpxname ",
    ['v' - 'a'] =
        " va_start valloc vasprintf vdprintf verr verrx versionsort vfork "
        "vfprintf vfscanf vfwprintf vfwscanf vhangup vlimit vmsplice vprintf "
        "vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vsyslog vwarn "
        "vwarnx vwprintf vwscanf ",
    ['w' - 'a'] =
        " wait wait3 wait4 waitid waitpid warn warnx wcpcpy wcpncpy wcrtomb "
        "wcscasecmp wcscat wcschr wcschrnul wcscmp wcscoll wcscpy wcscspn "
        "wcsdup wcsftime wcslen wcsncasecmp wcsncat wcsncmp wcsncpy wcsnlen "
        "wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof "
        "wcstof128 wcstof32 wcstof32x wcstof64x wcstoimax wcstok wcstol "
        "wcstold wcstoll wcstombs wcstoq wcstoul wcstoull wcstoumax wcstouq "
        "wcswcs wcswidth wcsxfrm wctob wctomb wctrans wctype wcwidth wmemchr "
        "wmemcmp wmemcpy wmemmove wmempcpy wmemset wordexp wordfree wprintf "
        "write writev wscanf ",
};

/* Macros of the headers of ISO C outside of the families in names.c, as Linux
 * has them. */
static const char macros[] =
    " AIO_PRIO_DELTA_MAX BC_BASE_MAX BC_DIM_MAX BC_SCALE_MAX BC_STRING_MAX "
    "BUS_ADRALN BUS_ADRERR BUS_MCEERR_AO BUS_MCEERR_AR BUS_OBJERR "
    "CHARCLASS_NAME_MAX CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED "
    "CLD_STOPPED CLD_TRAPPED CLK_TCK COLL_WEIGHTS_MAX DELAYTIMER_MAX E2BIG "
    "EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY "
    "EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY "
    "ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET "
    "EDEADLK EDEADLOCK EDESTADDRREQ EDOTDOT EDQUOT EEXIST EFAULT EFBIG "
    "EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EINPROGRESS EINTR EINVAL EIO "
    "EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT "
    "EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN "
    "ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP "
    "ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO "
    "ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK "
    "ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR "
    "ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE "
    "ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW "
    "EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE "
    "EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN "
    "ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT "
    "ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL "
    "EXPR_NEST_MAX FD_SETSIZE HOST_NAME_MAX ILL_BADIADDR ILL_BADSTK "
    "ILL_COPROC ILL_ILLADR ILL_ILLOPC ILL_ILLOPN ILL_ILLTRP ILL_PRVOPC "
    "ILL_PRVREG LINE_MAX LOGIN_NAME_MAX L_ctermid L_cuserid MAX_CANON "
    "MAX_INPUT MINSIGSTKSZ MQ_PRIO_MAX NFDBITS NGREG NGROUPS_MAX POLL_ERR "
    "POLL_HUP POLL_IN POLL_MSG POLL_OUT POLL_PRI "
    "PTHREAD_DESTRUCTOR_ITERATIONS PTHREAD_KEYS_MAX PTHREAD_STACK_MIN "
    "P_tmpdir RE_DUP_MAX RTSIG_MAX SA_INTERRUPT SA_NOCLDSTOP SA_NOCLDWAIT "
    "SA_NODEFER SA_NOMASK SA_ONESHOT SA_ONSTACK SA_RESETHAND SA_RESTART "
    "SA_SIGINFO SA_STACK SEGV_ACCADI SEGV_ACCERR SEGV_ADIDERR SEGV_ADIPERR "
    "SEGV_BNDERR SEGV_MAPERR SEGV_MTEAERR SEGV_MTESERR SEGV_PKUERR "
    "SEM_VALUE_MAX SIGCLD SIGEV_NONE SIGEV_SIGNAL SIGEV_THREAD "
    "SIGEV_THREAD_ID SIGIO SIGIOT SIGPOLL SIGPROF SIGPWR SIGRTMAX SIGRTMIN "
    "SIGSTKFLT SIGSTKSZ SIGSYS SIGTRAP SIGURG SIGVTALRM SIGWINCH SIGXCPU "
    "SIGXFSZ SI_ASYNCIO SI_ASYNCNL SI_DETHREAD SI_KERNEL SI_MESGQ SI_QUEUE "
    "SI_SIGIO SI_TIMER SI_TKILL SI_USER SS_DISABLE SS_ONSTACK "
    "TIMER_ABSTIME TTY_NAME_MAX WCONTINUED WEXITED WNOHANG WNOWAIT "
    "WSTOPPED WUNTRACED XATTR_LIST_MAX XATTR_NAME_MAX XATTR_SIZE_MAX "
    "sa_handler sa_sigaction si_addr si_addr_lsb si_arch si_band "
    "si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr "
    "si_status si_stime si_syscall si_timerid si_uid si_upper si_utime "
    "si_value sigev_notify_attributes sigev_notify_function ";

/* What begins the names of a whole interface. */
static const char *const interfaces[] = {
    "aio_",     "argp_",    "argz_",  "atomic_",  "clock_",    "cnd_",
    "envz_",    "epoll_",   "ether_", "eventfd_", "fanotify_", "inet6_",
    "inet_",    "inotify_", "lio_",   "malloc_",  "mq_",       "mtx_",
    "obstack_", "pidfd_",   "pkey_",  "posix_",   "pthread_",  "sched_",
    "sem_",     "thrd_",    "timer_", "timerfd_", "tss_"};

bool
po_name_is_of_header(const char *name) {
  return bs_has_word(macros, name);
}

bool
po_name_is_of_library(const char *name) {
  bool lower = name[0] >= 'a' && name[0] <= 'z';
  for (size_t k = 0; k < sizeof interfaces / sizeof *interfaces; k++)
    if (!strncmp(name, interfaces[k], strlen(interfaces[k])))
      return true;
  return lower && bs_has_word(library[name[0] - 'a'], name);
}
